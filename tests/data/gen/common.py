"""Shared helpers for the corpus generators.

Every generator registers models with @model(name, ...); run `python gen_X.py [name ...]`.
Result layout (ROOT = $CORPUS or corpus_out):
  ROOT/models/<name>/                   the SavedModel
  ROOT/golden/<name>/<signature>.<i>.npz    one golden case; keys "in/<arg>" and "out/<key>"
npz encoding (readable without pickle):
  numeric           plain .npy
  bfloat16          uint16 bit pattern under key + "#bf16"
  string tensors    key + "#bytes" (uint8, concatenated), key + "#offsets" (int64, n+1), key + "#shape" (int64)
"""
import os, sys, json, shutil, tempfile, time, traceback, zlib
os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ.setdefault('TF_ENABLE_ONEDNN_OPTS', '0')      # plain Eigen kernels: the reference numerics
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '-1')
os.environ.setdefault('TF_NUM_INTRAOP_THREADS', '2')
import numpy as np
ROOT = os.environ.get('CORPUS', 'corpus_out')
REG = {}  # name -> (builder, kwargs)

def model(name, **kw):
    def deco(f):
        REG[name] = (f, kw); return f
    return deco

def seed_of(name): return zlib.crc32(name.encode()) & 0x7fffffff

def rng(name): return np.random.default_rng(seed_of(name))

def enc(d, key, v):
    v = np.asarray(v)
    if v.dtype.name == 'bfloat16':
        d[key + '#bf16'] = v.view(np.uint16)
    elif v.dtype.kind in 'OSU':
        flat = [x if isinstance(x, bytes) else str(x).encode() for x in v.reshape(-1).tolist()]
        offs = np.zeros(len(flat) + 1, np.int64); offs[1:] = np.cumsum([len(x) for x in flat])
        d[key + '#bytes'] = np.frombuffer(b''.join(flat), np.uint8); d[key + '#offsets'] = offs
        d[key + '#shape'] = np.asarray(v.shape, np.int64)
    else:
        d[key] = v
    return d

def write_golden(name, sig, i, ins, outs):
    p = os.path.join(ROOT, 'golden', name); os.makedirs(p, exist_ok=True)
    d = {}
    for k, v in ins.items(): enc(d, 'in/' + k, v)
    for k, v in outs.items(): enc(d, 'out/' + k, v)
    np.savez_compressed(os.path.join(p, f'{sig}.{i}.npz'), **d)

def golden_v2(name, path, cases):
    """cases: {signature: [ {arg: array}, ... ]}; runs each through tf.saved_model.load."""
    import tensorflow as tf
    m = tf.saved_model.load(path)
    for sig, lst in cases.items():
        f = m.signatures[sig]
        for i, ins in enumerate(lst):
            spec = f.structured_input_signature[1]
            if set(ins) != set(spec): ins = dict(zip(sorted(spec), (ins[k] for k in sorted(ins))))   # Keras renames nested inputs
            ti = {k: tf.constant(v, dtype=spec[k].dtype) for k, v in ins.items()}
            out = f(**ti)
            write_golden(name, sig, i, ins, {k: v.numpy() for k, v in out.items()})

def golden_v1(name, path, cases, tags=('serve',)):
    import tensorflow as tf
    tf1 = tf.compat.v1
    with tf.Graph().as_default(), tf1.Session(config=tf1.ConfigProto(allow_soft_placement=True)) as s:
        mg = tf1.saved_model.load(s, list(tags), path)
        for sig, lst in cases.items():
            sd = mg.signature_def[sig]
            for i, ins in enumerate(lst):
                feed = {sd.inputs[k].name: v for k, v in ins.items()}
                out = s.run({k: t.name for k, t in sd.outputs.items()}, feed)
                write_golden(name, sig, i, ins, out)

def dirpath(name):
    p = os.path.join(ROOT, 'models', name)
    shutil.rmtree(p, ignore_errors=True); os.makedirs(os.path.dirname(p), exist_ok=True)
    return p

def run_all(setup=None):
    want = sys.argv[1:]
    ok = bad = 0
    log = open(os.path.join(os.path.dirname(os.path.abspath(ROOT)), 'gen.log'), 'a')
    for name, (f, kw) in REG.items():
        if want and not any(w == name or (w.endswith('*') and name.startswith(w[:-1])) for w in want): continue
        t = time.time()
        try:
            if setup: setup(name)
            f(name); ok += 1
            msg = f'OK   {name} {time.time()-t:.1f}s'
        except Exception as e:
            bad += 1
            msg = f'FAIL {name} {type(e).__name__}: {str(e)[:300]}'
            if want: traceback.print_exc()
        print(msg, flush=True); log.write(msg + '\n'); log.flush()
    print(f'{ok} ok, {bad} failed')
