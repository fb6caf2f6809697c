"""What the harness itself must carry: every kind of attribute, argument and step."""
import numpy as np

from case import array, case, case_steps, ref, step


def cases(rng):
    pair = np.ones([2], np.float32)
    yield case("AddV2", {"x": np.array([1, 2], np.float32), "y": 3})
    yield case("AddV2", {"x": array([1, 2], "bfloat16"), "y": 3})
    yield case("ConcatV2", {"values": [pair, np.ones([3], np.float32)], "axis": 0})
    yield case("Reshape", {"tensor": np.ones([2]), "shape": [7]}, error=True)
    yield case("StringJoin", {"inputs": [["a\0", "b\u00e9"], "c"]}, {"separator": b"\xff"})
    yield case("Split", {"split_dim": 0, "value": np.arange(4)}, {"num_split": 2})
    yield case("Const", {}, {"value": np.array([1, 2]), "dtype": np.int64})
    yield case("Const", {}, {"value": array(["a"], "string"), "dtype": "string"})
    yield case("EnsureShape", {"input": pair}, {"shape": [None]})
    yield case("EnsureShape", {"input": pair}, {"shape": None})
    yield case("EnsureShape", {"input": pair}, {"shape": [3, None]}, error=True)
    yield case("RandomUniform", {"shape": [3]}, {"dtype": "float"}, nondeterministic=True)
    yield case("IdentityN", {"input": [np.ones([2]), "x", True]})
    yield case("Pack", {"values": []}, {"N": 0, "T": "float"}, error=True)
    yield case_steps([
        step("VarHandleOp", {}, {"dtype": np.float32, "shape": [2]}, name="h"),
        step("ReadVariableOp", {"resource": ref("h")}, {"dtype": np.float32}, error=True),
        step("AssignVariableOp", {"resource": ref("h"), "value": pair}),
        step("ReadVariableOp", {"resource": ref("h")}, {"dtype": np.float32}),
    ])
    yield case_steps([
        step("VariableV2", {}, {"dtype": np.float32, "shape": [2]}, name="v"),
        step("Assign", {"ref": ref("v"), "value": pair}, check=True),
        step("AssignAdd", {"ref": ref("v"), "value": pair}),
    ])
    yield case_steps([
        step("TensorArrayV3", {"size": 3}, {"dtype": np.float32}, name="a"),
        step("TensorArrayWriteV3",
             {"handle": ref("a"), "index": 1, "value": pair, "flow_in": ref("a", 1)}, name="w"),
        step("TensorArrayReadV3", {"handle": ref("a"), "index": 1, "flow_in": ref("w")},
             {"dtype": np.float32}),
    ], graph=True)
    yield case_steps([
        step("TensorListReserve", {"element_shape": [2], "num_elements": 3},
             {"element_dtype": np.float32}, name="l"),
        step("TensorListLength", {"input_handle": ref("l")}),
    ])
    for _ in range(2):  # neither state nor random sequences pass from case to case
        yield case_steps([
            step("VarHandleOp", {}, {"dtype": np.float32, "shape": [2]}, name="h"),
            step("VarIsInitializedOp", {"resource": ref("h")}, check=True),
            step("AssignVariableOp", {"resource": ref("h"), "value": pair}),
        ])
        yield case("RandomUniform", {"shape": [3]}, {"dtype": "float", "seed": 1, "seed2": 2})
