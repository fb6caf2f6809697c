"""Every model that Tare must pass, through Python, against what TensorFlow answered."""
import pathlib

import numpy as np
import pytest
import tare

ROOT = pathlib.Path(__file__).parents[2]


def listed():
    names = []
    for line in (ROOT / "tests" / "models" / "passing.txt").read_text().splitlines():
        name, *loaders = line.split("#")[0].split()[:3] or [None]
        if name and (not loaders or "auto" in loaders):
            names.append(name)
    return names


def decode(file):
    out = {}
    for name in file.files:
        key, _, part = name.partition("#")
        if part == "bf16":
            out[key] = tare.tensor(file[name].astype(np.uint32) << 16).numpy().view(np.float32)
        elif part == "bytes":
            text, offsets = file[name].tobytes(), file[key + "#offsets"]
            array = np.empty(len(offsets) - 1, object)
            array[:] = [text[a:b] for a, b in zip(offsets, offsets[1:])]
            out[key] = array.reshape(file[key + "#shape"])
        elif not part:
            out[key] = file[name]
    return out


def value_of(t):
    return np.array(t.tolist(), np.float32).reshape(t.shape) if t.dtype == "bfloat16" else np.asarray(t)


def given(spec, array):
    """Recorded before TensorFlow made it the signature's dtype."""
    if spec.dtype not in ("bfloat16", "string"):
        array = array.astype(spec.dtype.as_numpy_dtype)
    return tare.ops.cast(array, DstT="bfloat16") if spec.dtype == "bfloat16" else array


@pytest.mark.parametrize("name", listed())
def test_answers_as_tensorflow(name, data):
    goldens = sorted((data / "golden" / name).glob("*.npz"))
    if not goldens:
        pytest.skip("no recorded answers")
    with tare.load(data / "corpus" / name) as m:
        for path in goldens:
            signature = m.signatures[path.stem.rsplit(".", 1)[0]]
            with np.load(path) as file:
                arrays = decode(file)
            inputs = {k[3:]: given(signature.inputs[k[3:]], v) for k, v in arrays.items() if k.startswith("in/")}
            outputs = signature(**inputs)
            for key, want in arrays.items():
                if not key.startswith("out/"):
                    continue
                got = value_of(outputs[key[4:]])
                assert got.shape == want.shape, key
                if want.dtype.kind in "fc":
                    # What is computed in bfloat16 differs in its last digit between TensorFlow's own builds.
                    loose = 2e-2 if outputs[key[4:]].dtype in ("bfloat16", "float16") else 8e-3 if "bf16" in name else 1e-5
                    np.testing.assert_allclose(got, want, rtol=loose, atol=loose, err_msg=key)
                else:
                    np.testing.assert_array_equal(got, want, err_msg=key)
