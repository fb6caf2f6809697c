"""tf.Module / tf.function models (TF2 SavedModels without Keras)."""
from common import *
import tensorflow as tf
TS = tf.TensorSpec
S = lambda v: np.array(v, dtype=object)
def setup(name): tf.random.set_seed(seed_of(name)); tf.keras.backend.clear_session() if False else None
def N(name, *s): return rng(name + 'in').normal(0, 1, s).astype('float32')

def save(name, sigs, cases, obj=None, options=None):
    """sigs: {sig: (fn, {arg: TensorSpec})}; cases: {sig: [dict]}"""
    m = obj or tf.Module(); conc = {}
    for s, (fn, spec) in sigs.items():
        jit = getattr(fn, '_jit', None)
        f = tf.function(fn, jit_compile=jit) if jit else tf.function(fn)
        conc[s] = f.get_concrete_function(**{k: tf.TensorSpec(v.shape, v.dtype, name=k) for k, v in spec.items()})
        setattr(m, 'fn_' + s, f)
    p = dirpath(name); tf.saved_model.save(m, p, signatures=conc, options=options); golden_v2(name, p, cases)

def one(name, fn, spec, ins, **kw): save(name, {'serving_default': (fn, spec)}, {'serving_default': ins if isinstance(ins, list) else [ins]}, **kw)
f32 = tf.float32

@model('m_half_plus_two')
def _(n):
    m = tf.Module(); m.a = tf.Variable(.5); m.b = tf.Variable(2.)
    one(n, lambda x: {'y': m.a * x + m.b}, {'x': TS([None], f32)}, {'x': np.arange(4, dtype='f')}, obj=m)

@model('m_multi_sig_state')
def _(n):
    m = tf.Module(); m.cnt = tf.Variable(0, dtype=tf.int64); m.w = tf.Variable(N(n, 4, 3)); m.fz = tf.Variable([1., 2., 3.], trainable=False)
    def predict(x): return {'logits': x @ m.w + m.fz, 'probs': tf.nn.softmax(x @ m.w + m.fz)}
    def inc(k): return {'count': m.cnt.assign_add(k)}
    def train(x, y):
        with tf.GradientTape() as t: l = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, x @ m.w + m.fz))
        g = t.gradient(l, m.w); m.w.assign_sub(.1 * g); return {'loss': l}
    def nothing(x): return {'x': tf.identity(x)}
    save(n, {'serving_default': (predict, {'x': TS([None, 4], f32)}), 'count': (inc, {'k': TS([], tf.int64)}), 'train': (train, {'x': TS([None, 4], f32), 'y': TS([None], tf.int32)}), 'echo': (nothing, {'x': TS(None, tf.string)})},
         {'serving_default': [{'x': N(n, 2, 4)}], 'count': [{'k': 2}, {'k': 3}], 'echo': [{'x': S(['a', 'é'])}], 'train': [{'x': N(n, 5, 4), 'y': np.array([0, 1, 2, 1, 0])}]}, obj=m)

def example(**kw):
    fe = {}
    for k, v in kw.items():
        v = v if isinstance(v, (list, tuple)) else [v]
        if not v or isinstance(v[0], (bytes, str)): fe[k] = tf.train.Feature(bytes_list=tf.train.BytesList(value=[x.encode() if isinstance(x, str) else x for x in v]))
        elif isinstance(v[0], float): fe[k] = tf.train.Feature(float_list=tf.train.FloatList(value=v))
        else: fe[k] = tf.train.Feature(int64_list=tf.train.Int64List(value=v))
    return tf.train.Example(features=tf.train.Features(feature=fe)).SerializeToString(deterministic=True)

@model('m_parse_example')
def _(n):
    spec = {'age': tf.io.FixedLenFeature([1], f32, [0.]), 'emb': tf.io.FixedLenFeature([2, 2], f32), 'id': tf.io.FixedLenFeature([], tf.int64), 'job': tf.io.FixedLenFeature([], tf.string, 'none'), 'tags': tf.io.VarLenFeature(tf.string), 'nums': tf.io.VarLenFeature(tf.int64), 'rag': tf.io.RaggedFeature(f32), 'seq': tf.io.FixedLenSequenceFeature([2], tf.int64, allow_missing=True)}
    def fn(examples):
        d = tf.io.parse_example(examples, spec)
        return {'age': d['age'], 'emb': d['emb'], 'id': d['id'], 'job': d['job'], 'tags': tf.sparse.to_dense(d['tags'], ''), 'nums': tf.sparse.to_dense(d['nums'], -1), 'rag': d['rag'].to_tensor(-1.), 'ragsum': tf.reduce_sum(d['rag'], 1), 'seq': d['seq']}
    ex = [example(age=3.5, emb=[1., 2., 3., 4.], id=7, job='pilot', tags=['a', 'b', '日本'], nums=[1, 2], rag=[.5, 1.5], seq=[1, 2, 3, 4]), example(emb=[0.] * 4, id=-9, tags=[], rag=[9.]), example(age=1e9, emb=[-1.] * 4, id=2**40, nums=[5], job='x' * 50)]
    one(n, fn, {'examples': TS([None], tf.string)}, {'examples': S(ex)})

@model('m_parse_single_seq')
def _(n):
    def fn(example):
        d = tf.io.parse_single_example(example, {'a': tf.io.FixedLenFeature([2], f32), 's': tf.io.VarLenFeature(tf.int64)}); return {'a': d['a'], 's': tf.sparse.to_dense(d['s'])}
    def fs(seqs):
        c, q, l = tf.io.parse_sequence_example(seqs, {'id': tf.io.FixedLenFeature([], tf.int64)}, {'tok': tf.io.RaggedFeature(tf.int64), 'v': tf.io.FixedLenSequenceFeature([2], f32)}); return {'id': c['id'], 'tok': q['tok'].to_tensor(), 'v': q['v'], 'len': l['v']}
    def raw(b): return {'f': tf.io.decode_raw(b, f32, fixed_length=8) if False else tf.io.decode_raw(b, f32), 'csv0': tf.io.decode_csv(tf.constant(['1,2.5,x', '3,,"y,z"']), [[0], [-1.], ['']])[1], 'b64': tf.io.decode_base64(tf.io.encode_base64(b)), 'json': tf.io.decode_json_example(tf.constant('{"features":{"feature":{"a":{"int64List":{"value":[1]}}}}}'))}
    def sq(i, toks, v):
        e = tf.train.SequenceExample(); e.context.feature['id'].int64_list.value.append(i)
        for t in toks: e.feature_lists.feature_list['tok'].feature.add().int64_list.value.append(t)
        for t in v: e.feature_lists.feature_list['v'].feature.add().float_list.value.extend(t)
        return e.SerializeToString(deterministic=True)
    save(n, {'serving_default': (fn, {'example': TS([], tf.string)}), 'seq': (fs, {'seqs': TS([None], tf.string)}), 'raw': (raw, {'b': TS([None], tf.string)})},
         {'serving_default': [{'example': S(example(a=[1., 2.], s=[4, 5]))}], 'seq': [{'seqs': S([sq(1, [1, 2, 3], [[1, 2], [3, 4]]), sq(2, [], [[5, 6]])])}], 'raw': [{'b': S([b'\0\0\x80?\0\0\0@', b'abcdefgh'])}]})

def jpg(n, h=24, w=20, c=3, q=90):
    y, x = np.mgrid[:h, :w]; im = np.stack([(x * 9) % 256, (y * 7 + x) % 256, (x * y) % 256], -1)[..., :c].astype('uint8')
    return tf.io.encode_jpeg(im, quality=q).numpy(), tf.io.encode_png(im).numpy(), im

@model('m_image_jpeg_png')
def _(n):
    def fn(jpeg, png):
        a = tf.io.decode_jpeg(jpeg, channels=3); b = tf.io.decode_png(png, channels=3); g = tf.io.decode_jpeg(jpeg, channels=1); e = tf.io.decode_image(png, expand_animations=False); e.set_shape([None, None, 3])
        r = tf.image.resize(tf.image.convert_image_dtype(a, f32), [12, 12]); return {'jpeg': a, 'png': b, 'gray': g, 'res': r, 'any': tf.image.resize(e, [8, 8], 'nearest'), 'std': tf.image.per_image_standardization(b), 'shape': tf.io.extract_jpeg_shape(jpeg)}
    j, p, _ = jpg(n); j2, p2, _ = jpg(n, 17, 33, 3, 60)
    one(n, fn, {'jpeg': TS([], tf.string), 'png': TS([], tf.string)}, [{'jpeg': S(j), 'png': S(p)}, {'jpeg': S(j2), 'png': S(p2)}])

@model('m_image_serving_b64_mapfn')
def _(n):
    m = tf.Module(); m.k = tf.Variable(N(n, 3, 3, 3, 4) * .1); m.d = tf.Variable(N(n, 4, 5))
    def one_im(b): x = tf.io.decode_jpeg(tf.io.decode_base64(b), channels=3, dct_method='INTEGER_ACCURATE'); x = tf.image.resize(x, [16, 16], antialias=True); return tf.image.resize_with_crop_or_pad(x, 14, 14) / 255.
    def fn(image_bytes): x = tf.map_fn(one_im, image_bytes, fn_output_signature=TS([14, 14, 3], f32)); x = tf.nn.relu(tf.nn.conv2d(x, m.k, 1, 'SAME')); x = tf.reduce_mean(x, [1, 2]) @ m.d; v, i = tf.math.top_k(tf.nn.softmax(x), 3); return {'scores': v, 'classes': tf.gather(tf.constant(['cat', 'dog', 'hén', '鳥', 'fish']), i)}
    import base64
    e = lambda b: base64.urlsafe_b64encode(b).rstrip(b'=')
    one(n, fn, {'image_bytes': TS([None], tf.string)}, {'image_bytes': S([e(jpg(n)[0]), e(jpg(n, 40, 31)[0])])}, obj=m)

@model('m_image_ops')
def _(n):
    def fn(x):
        i = tf.image; o = {'gray': i.rgb_to_grayscale(x), 'hsv': i.rgb_to_hsv(x), 'rgb': i.hsv_to_rgb(i.rgb_to_hsv(x)), 'flip': i.flip_left_right(x), 'ud': i.flip_up_down(x), 'rot': i.rot90(x), 'tr': i.transpose(x), 'bright': i.adjust_brightness(x, .1), 'contrast': i.adjust_contrast(x, 1.5), 'hue': i.adjust_hue(x, .1), 'sat': i.adjust_saturation(x, 1.3), 'gamma': i.adjust_gamma(x, .8), 'crop': i.central_crop(x, .5), 'pad': i.pad_to_bounding_box(x, 1, 2, 14, 15), 'bic': i.resize(x, [5, 19], 'bicubic'), 'lz': i.resize(x, [5, 19], 'lanczos3', antialias=True), 'rwp': i.resize_with_pad(x, 9, 20), 'ex': i.extract_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], 'VALID'), 'sobel': i.sobel_edges(x), 'tv': i.total_variation(x), 'yuv': i.rgb_to_yuv(x), 'sat_u8': tf.cast(tf.saturate_cast(x * 300, tf.uint8), tf.int32),
             'ssim': i.ssim(x, tf.clip_by_value(x + .1, 0, 1), 1., filter_size=5), 'v1bil': tf.compat.v1.image.resize_bilinear(x, [7, 7], align_corners=True), 'v1nn': tf.compat.v1.image.resize_nearest_neighbor(x, [7, 7]), 'area': tf.compat.v1.image.resize_area(x, [5, 5]), 'crb': i.crop_and_resize(x, [[.1, .1, .9, .8], [-.1, 0, 1.2, 1]], [0, 0], [6, 6]), 'proj': tf.raw_ops.ImageProjectiveTransformV3(images=x, transforms=[[.9, .1, 1, -.1, .9, 2, 0, 0]], output_shape=[11, 12], fill_value=0., interpolation='BILINEAR'), 'dbb': i.draw_bounding_boxes(x, [[[.1, .1, .6, .6]]], [[1., 0, 0]])}; return o
    one(n, fn, {'x': TS([1, 11, 12, 3], f32)}, {'x': rng(n).uniform(0, 1, (1, 11, 12, 3)).astype('f')})

TXT = ['The quick brown fox, jumps  over 12.5 dogs!', 'Grüße aus KÖLN — ÄÖÜß', '日本語のテスト文字列', 'Привет, МИР ёж', 'مرحبا بالعالم', '', '😀👨‍👩‍👧 emoji', 'naïve café Ω≈ç']
@model('m_strings_utf8')
def _(n):
    s = tf.strings
    def fn(text):
        lo = s.lower(text, 'utf-8'); cl = s.regex_replace(lo, r'[^\p{L}\p{N}\s]', ' '); tok = s.split(cl); ng = s.ngrams(tok, [1, 2], separator='_')
        return {'lower': lo, 'upper': s.upper(text, 'utf-8'), 'clean': cl, 'strip': s.strip(cl), 'tok': tok.to_tensor(''), 'ntok': tok.row_lengths(), 'ng': ng.to_tensor('#'), 'blen': s.length(text), 'ulen': s.length(text, 'UTF8_CHAR'), 'sub': s.substr(text, 1, 3, 'UTF8_CHAR') if False else s.substr(s.join([text, tf.fill(tf.shape(text), 'äöü-')]), 1, 3, 'UTF8_CHAR'), 'cp': s.unicode_decode(text, 'UTF-8').to_tensor(-1), 'chars': s.unicode_split(text, 'UTF-8').to_tensor(''), 'script': s.unicode_script(s.unicode_decode(text, 'UTF-8').to_tensor(32)), 'u16': s.unicode_transcode(text, 'UTF-8', 'UTF-16-BE'), 'norm': s.unicode_transcode(text, 'UTF-8', 'UTF-8', errors='replace', replace_control_characters=True), 'hash': s.to_hash_bucket_fast(text, 1000), 'hs': s.to_hash_bucket_strong(text, 1000, [3, 7]), 'h1': s.to_hash_bucket(text, 1000), 'rfm': s.regex_full_match(text, r'.*[0-9]+.*'), 'join': s.reduce_join(tok.to_tensor(''), axis=1, separator='|'), 'enc': s.unicode_encode(s.unicode_decode(text, 'UTF-8'), 'UTF-8'), 'split_comma': s.split(text, ',').to_tensor(''), 'splitmax': s.split(text, maxsplit=1).to_tensor(''), 'bytes': s.bytes_split(text).row_lengths()}
    one(n, fn, {'text': TS([None], tf.string)}, {'text': S(TXT)})

@model('m_strings_num')
def _(n):
    s = tf.strings
    def fn(x, i, t): return {'as': s.as_string(x, precision=3), 'sci': s.as_string(x, scientific=True), 'w': s.as_string(i, width=6, fill='0'), 'def': s.as_string(x), 'short': s.as_string(x, shortest=True), 'num': s.to_number(t), 'numi': s.to_number(s.regex_replace(t, r'[.e].*', ''), tf.int64), 'fmt': s.format('x={} i={}', (x, i)), 'join': s.join([t, s.as_string(i)], '-'), 'eq': tf.equal(t, '1.5'), 'b': s.as_string(i > 0), 'gath': tf.gather(t, [1, 0]), 'cat': tf.concat([t, t], 0), 'where': tf.where(i > 0, t, 'neg'), 'uniq': tf.unique(t)[1], 'md5': tf.strings.to_hash_bucket_strong(t, 7, [1, 2])}
    one(n, fn, {'x': TS([None], f32), 'i': TS([None], tf.int64), 't': TS([None], tf.string)}, {'x': np.array([1.5, -2.25e-7, 3e10], 'f'), 'i': np.array([1, -20, 300]), 't': S(['1.5', '-7', '3e2'])})

@model('m_ragged')
def _(n):
    def fn(values, row_lengths):
        r = tf.RaggedTensor.from_row_lengths(values, row_lengths); q = tf.ragged.map_flat_values(tf.square, r)
        return {'dense': r.to_tensor(-1., shape=[None, 4]), 'sum': tf.reduce_sum(r, 1), 'mean': tf.reduce_mean(q, 1), 'max': tf.reduce_max(r, 1), 'cat': tf.concat([r, q], 1).to_tensor(), 'gather': tf.gather(r, [2, 0]).to_tensor(), 'slice': r[:, :2].to_tensor(), 'rng': tf.ragged.range([2, 0, 3]).to_tensor(), 'sp': tf.sparse.to_dense(r.to_sparse()), 'mask': tf.ragged.boolean_mask(r, r > 0).to_tensor(), 'back': tf.RaggedTensor.from_tensor(r.to_tensor(), padding=0.).flat_values, 'stack': tf.ragged.stack([r, r]).to_tensor(), 'starts': r.row_starts(), 'vr': r.value_rowids(), 'any': tf.reduce_any(r > 1, 1), 'sm': tf.nn.softmax(r).to_tensor(), 'rev': tf.reverse(r, [1]).to_tensor(), 'bincount': tf.math.bincount(tf.cast(tf.abs(r), tf.int32), axis=-1, minlength=4, maxlength=4), 'cross': tf.ragged.cross_hashed([tf.strings.as_string(tf.cast(r, tf.int32)), tf.strings.as_string(tf.cast(r, tf.int32))], 100).to_tensor()}
    one(n, fn, {'values': TS([None], f32), 'row_lengths': TS([None], tf.int64)}, {'values': N(n, 7) * 2, 'row_lengths': np.array([3, 0, 4])})

@model('m_beam_search')
def _(n):
    V, D, B = 20, 8, 3; m = tf.Module(); m.e = tf.Variable(N(n, V, D)); m.w = tf.Variable(N(n + 'w', D, V)); m.u = tf.Variable(N(n + 'u', D, D) * .5)
    def fn(start, max_len):
        bs = tf.shape(start)[0]; seq = tf.TensorArray(tf.int32, 0, dynamic_size=True, clear_after_read=False, element_shape=[None, B]); par = tf.TensorArray(tf.int32, 0, dynamic_size=True, element_shape=[None, B])
        lp = tf.tile(tf.constant([[0.] + [-1e9] * (B - 1)]), [bs, 1]); tok = tf.tile(start[:, None], [1, B]); h = tf.zeros([bs, B, D])
        def cond(t, tok, h, lp, seq, par): return tf.logical_and(t < max_len, tf.logical_not(tf.reduce_all(tf.equal(tok, 1))))
        def body(t, tok, h, lp, seq, par):
            h = tf.tanh(tf.gather(m.e, tok) + tf.einsum('bkd,de->bke', h, m.u)); logp = tf.nn.log_softmax(tf.einsum('bkd,dv->bkv', h, m.w)); tot = tf.reshape(lp[:, :, None] + logp, [bs, B * V]); lp2, ix = tf.math.top_k(tot, B); p = ix // V; tk = ix % V
            return t + 1, tk, tf.gather(h, p, batch_dims=1), lp2, seq.write(t, tk), par.write(t, p)
        t, tok, h, lp, seq, par = tf.while_loop(cond, body, [0, tok, h, lp, seq, par], shape_invariants=[TS([], tf.int32).shape, tf.TensorShape([None, B]), tf.TensorShape([None, B, D]), tf.TensorShape([None, B]), None, None] if False else None)
        sq, pr = seq.stack(), par.stack(); out = tf.TensorArray(tf.int32, t); cur = tf.tile(tf.range(B)[None], [bs, 1])
        i = t - 1
        while i >= 0:
            out = out.write(i, tf.gather(sq[i], cur, batch_dims=1)); cur = tf.gather(pr[i], cur, batch_dims=1); i -= 1
        return {'ids': tf.transpose(out.stack(), [1, 2, 0]), 'scores': lp, 'steps': t}
    one(n, fn, {'start': TS([None], tf.int32), 'max_len': TS([], tf.int32)}, [{'start': np.array([2, 5]), 'max_len': 6}], obj=m)

@model('m_control_flow')
def _(n):
    def fn(x, k):
        a = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.cond(k > 2, lambda: x * 2, lambda: x + 1), lambda: -x); b = tf.switch_case(k, [lambda: x, lambda: x * 10, lambda: tf.exp(x)], default=lambda: tf.zeros_like(x)); c = tf.case([(k > 5, lambda: x - 5), (k > 1, lambda: x - 1)], default=lambda: x)
        s = 0.
        for i in tf.range(k):
            if i % 2 == 0: continue
            for j in tf.range(i): s += tf.cast(i * j, tf.float32)
            if s > 50: break
        y = x
        while tf.reduce_max(tf.abs(y)) > .1: y = y / 2
        return {'a': a, 'b': b, 'c': c, 's': s, 'y': y, 'vec': tf.vectorized_map(lambda r: r * r + 1, x), 'eag': tf.scan(lambda p, e: p * .5 + e, x), 'fold': tf.foldl(lambda p, e: p + e, x), 'foldr': tf.foldr(lambda p, e: p * .3 + e, x)}
    one(n, fn, {'x': TS([None], f32), 'k': TS([], tf.int32)}, [{'x': N(n, 4), 'k': 4}, {'x': -np.abs(N(n, 4)), 'k': 9}, {'x': np.ones(2, 'f'), 'k': 1}])

@model('m_tensor_list')
def _(n):
    def fn(x):
        ta = tf.TensorArray(f32, size=0, dynamic_size=True, infer_shape=False); k = tf.shape(x)[0]
        for i in tf.range(k): ta = ta.write(i, x[i, : i + 1])
        cat = ta.concat(); u = tf.TensorArray(f32, size=k).unstack(x); sc = tf.TensorArray(f32, size=5).scatter([0, 2], x[:2]); sp = tf.TensorArray(f32, size=2).split(tf.reshape(x[:2], [-1]), [3, tf.size(x[:2]) - 3])
        return {'cat': cat, 'g': u.gather([1, 0]), 'size': ta.size(), 'sc': sc.gather([0, 2]), 'sp': sp.read(0), 'map': tf.map_fn(lambda t: (t * 2, tf.reduce_sum(t)), x, fn_output_signature=(f32, f32))[1], 'ragmap': tf.map_fn(lambda i: tf.range(i), tf.range(k), fn_output_signature=tf.RaggedTensorSpec([None], tf.int32)).to_tensor()}
    one(n, fn, {'x': TS([None, 6], f32)}, {'x': N(n, 4, 6)})

@model('m_lookup_tables')
def _(n):
    vf = os.path.join(tempfile.gettempdir(), 'tare_vocab', 'vocab.txt'); os.makedirs(os.path.dirname(vf), exist_ok=True); open(vf, 'w').write('[PAD]\n[UNK]\nhello\nworld\n日本\nгруша\n'); cf = vf.replace('vocab', 'pairs', 1).replace('vocab.txt', 'p.txt'); os.makedirs(os.path.dirname(cf), exist_ok=True); open(cf, 'w').write('a\t1.5\nb\t-2\n')
    lk = tf.lookup; m = tf.Module()
    m.st = lk.StaticHashTable(lk.KeyValueTensorInitializer(['x', 'y', 'ж'], tf.constant([10, 20, 30], tf.int64)), -1)
    m.vf = lk.StaticHashTable(lk.TextFileInitializer(vf, tf.string, lk.TextFileIndex.WHOLE_LINE, tf.int64, lk.TextFileIndex.LINE_NUMBER), 1)
    m.inv = lk.StaticHashTable(lk.TextFileInitializer(vf, tf.int64, lk.TextFileIndex.LINE_NUMBER, tf.string, lk.TextFileIndex.WHOLE_LINE), '[UNK]')
    m.col = lk.StaticHashTable(lk.TextFileInitializer(cf, tf.string, 0, f32, 1, delimiter='\t'), 0.)
    m.voc = lk.StaticVocabularyTable(lk.TextFileInitializer(vf, tf.string, lk.TextFileIndex.WHOLE_LINE, tf.int64, lk.TextFileIndex.LINE_NUMBER), 4)
    m.mut = lk.experimental.MutableHashTable(tf.string, tf.int64, -5); m.mut.insert(['k1', 'k2'], [1, 2]); m.den = lk.experimental.DenseHashTable(tf.int64, f32, 0., -1, -2); m.den.insert([5, 6], [.5, .6])
    m.asset = tf.saved_model.Asset(vf)
    def fn(keys, ids): return {'st': m.st.lookup(keys), 'vf': m.vf.lookup(keys), 'inv': m.inv.lookup(ids), 'col': m.col.lookup(keys), 'voc': m.voc.lookup(keys), 'mut': m.mut.lookup(keys), 'den': m.den.lookup(ids), 'size': m.vf.size(), 'asset': tf.strings.split(tf.io.read_file(m.asset.asset_path), '\n')}
    def ins(keys, vals): m.mut.insert(keys, vals); return {'size': m.mut.size(), 'exp': tf.sort(m.mut.export()[1])}
    save(n, {'serving_default': (fn, {'keys': TS([None], tf.string), 'ids': TS([None], tf.int64)}), 'insert': (ins, {'keys': TS([None], tf.string), 'vals': TS([None], tf.int64)})}, {'serving_default': [{'keys': S(['x', 'hello', '日本', 'a', 'zz', 'k1']), 'ids': np.array([0, 4, 99, 5])}], 'insert': [{'keys': S(['n', 'k1']), 'vals': np.array([7, 8])}]}, obj=m)

@model('m_linalg')
def _(n):
    l = tf.linalg
    def fn(a, b):
        spd = a @ l.matrix_transpose(a) + 4. * tf.eye(4, batch_shape=[2]); return {'mm': a @ b, 'mmT': tf.matmul(a, b, transpose_a=True), 'adj': tf.matmul(a, b, adjoint_b=False, transpose_b=False), 'e1': tf.einsum('bij,bjk->bik', a, b), 'e2': tf.einsum('bij,bik->bjk', a, b), 'e3': tf.einsum('...ij->...ji', a), 'e4': tf.einsum('bii->b', a), 'chol': l.cholesky(spd), 'inv': l.inv(spd), 'det': l.det(spd), 'logdet': l.logdet(spd), 'solve': l.solve(spd, b), 'tri': l.triangular_solve(l.cholesky(spd), b), 'qr': tf.abs(l.qr(a)[1]), 'svd': l.svd(a, compute_uv=False), 'eigh': l.eigvalsh(spd), 'diag': l.diag(a[:, 0]), 'dp': l.diag_part(a), 'bp': l.band_part(a, 1, 0), 'sd': l.set_diag(a, tf.zeros([2, 4])), 'tr': l.trace(a), 'norm': tf.norm(a), 'tdot': tf.tensordot(a, b, [[2], [1]]), 'lstsq': l.lstsq(spd, b), 'expm': l.expm(a * .1), 'cross': l.cross(a[..., :3], a[..., 1:]), 'l2n': l.l2_normalize(a, -1), 'mv': l.matvec(a, b[..., 0]), 'pinv': l.pinv(a)}
    one(n, fn, {'a': TS([2, 4, 4], f32), 'b': TS([2, 4, 3], f32)}, {'a': N(n, 2, 4, 4), 'b': N(n + 'b', 2, 4, 3)})

@model('m_signal')
def _(n):
    g = tf.signal
    def fn(x):
        st = g.stft(x, 64, 32, 64); mag = tf.abs(st); mel = tf.tensordot(mag, g.linear_to_mel_weight_matrix(10, 33, 8000, 80., 3800.), 1); c = tf.complex(x, x * .5); return {'mag': mag, 'phase': tf.math.angle(st + tf.complex(1e-3, 0.)), 'mel': tf.math.log(mel + 1e-6), 'mfcc': g.mfccs_from_log_mel_spectrograms(tf.math.log(mel + 1e-6)), 'istft': g.inverse_stft(st, 64, 32, 64), 'dct': g.dct(x[:, :16]), 'idct': g.idct(x[:, :16], norm='ortho'), 'frame': g.frame(x, 16, 8), 'ola': g.overlap_and_add(g.frame(x, 16, 8), 8), 'hann': g.hann_window(16), 'fft_re': tf.math.real(g.fft(c)), 'ifft_im': tf.math.imag(g.ifft(c)), 'fft2': tf.abs(g.fft2d(tf.reshape(c, [2, 16, 16]))), 'rfft2': tf.abs(g.rfft2d(tf.reshape(x, [2, 16, 16]))), 'irfft': g.irfft(g.rfft(x)), 'conj': tf.math.imag(tf.math.conj(c) * c), 'shift': g.fftshift(x[:, :8])}
    one(n, fn, {'x': TS([2, 256], f32)}, {'x': N(n, 2, 256)})

@model('m_detection_post')
def _(n):
    def fn(boxes, scores):
        i1 = tf.image.non_max_suppression(boxes[0], scores[0, :, 0], 5, .5, .1); i2, s2 = tf.image.non_max_suppression_with_scores(boxes[0], scores[0, :, 0], 5, .5, .1, .5); i4, nv = tf.image.non_max_suppression_padded(boxes[0], scores[0, :, 0], 6, .5, pad_to_max_output_size=True); c = tf.image.combined_non_max_suppression(boxes[:, :, None, :], scores, 4, 6, .5, .2); keep = tf.where(scores[0, :, 1] > .5)[:, 0]; bm = tf.boolean_mask(boxes[0], scores[0, :, 1] > .5)
        return {'i1': i1, 'i2': i2, 's2': s2, 'i4': i4, 'nv': nv, 'cb': c[0], 'cs': c[1], 'cc': c[2], 'cv': c[3], 'keep': keep, 'bm': bm, 'gnd': tf.gather_nd(scores, [[0, 1, 1], [1, 0, 2]]), 'am': tf.argmax(scores, -1), 'dpart': tf.concat(tf.dynamic_partition(boxes[0], tf.cast(scores[0, :, 2] > .5, tf.int32), 2), 0), 'dst': tf.dynamic_stitch([[0, 2], [1]], [boxes[0, :2], boxes[0, 2:3]]), 'v3': tf.raw_ops.NonMaxSuppressionV3(boxes=boxes[1], scores=scores[1, :, 0], max_output_size=3, iou_threshold=.5, score_threshold=.0)}
    r = rng(n); yx = r.uniform(0, .8, (2, 12, 2)); b = np.concatenate([yx, yx + r.uniform(.1, .3, (2, 12, 2))], -1).astype('f')
    one(n, fn, {'boxes': TS([2, None, 4], f32), 'scores': TS([2, None, 3], f32)}, {'boxes': b, 'scores': r.uniform(0, 1, (2, 12, 3)).astype('f')})

@model('m_segment_gnn')
def _(n):
    m = tf.Module(); m.w = tf.Variable(N(n, 4, 4))
    def fn(x, src, dst):
        msg = tf.gather(x @ m.w, src); k = tf.shape(x)[0]; agg = tf.math.unsorted_segment_sum(msg, dst, k); so = tf.sort(dst)
        return {'h': tf.nn.relu(x + agg), 'mean': tf.math.unsorted_segment_mean(msg, dst, k), 'max': tf.math.unsorted_segment_max(msg, dst, k), 'min': tf.math.unsorted_segment_min(msg, dst, k), 'prod': tf.math.unsorted_segment_prod(msg, dst, k), 'sqrt': tf.math.unsorted_segment_sqrt_n(msg, dst, k), 'ss': tf.math.segment_sum(msg, so), 'smean': tf.math.segment_mean(msg, so), 'smax': tf.math.segment_max(msg, so), 'smin': tf.math.segment_min(msg, so), 'sprod': tf.math.segment_prod(msg, so), 'spseg': tf.sparse.segment_sum(x, src, so), 'spmean': tf.sparse.segment_mean(x, src, so), 'spsq': tf.sparse.segment_sqrt_n(x, src, so), 'scat': tf.scatter_nd(dst[:, None], msg, tf.shape(x)), 'tsa': tf.tensor_scatter_nd_add(x, dst[:, None], msg), 'deg': tf.math.bincount(dst, minlength=5)}
    one(n, fn, {'x': TS([None, 4], f32), 'src': TS([None], tf.int32), 'dst': TS([None], tf.int32)}, {'x': N(n, 5, 4), 'src': np.array([0, 1, 2, 3, 4, 0]), 'dst': np.array([1, 1, 3, 0, 3, 2])}, obj=m)

@model('m_sparse')
def _(n):
    m = tf.Module(); m.e = tf.Variable(N(n, 10, 4)); sp = tf.sparse
    def fn(indices, values, dense):
        s = tf.SparseTensor(indices, values, [3, 5]); ids = tf.SparseTensor(indices, tf.cast(tf.abs(values) * 3, tf.int64) % 10, [3, 5])
        return {'mm': sp.sparse_dense_matmul(s, dense), 'dense': sp.to_dense(s), 'rsum': sp.reduce_sum(s, 1), 'emb': tf.nn.safe_embedding_lookup_sparse(m.e, ids, combiner='mean'), 'embs': tf.nn.embedding_lookup_sparse(m.e, sp.fill_empty_rows(ids, 0)[0], None, combiner='sum'), 'embw': tf.nn.safe_embedding_lookup_sparse(m.e, ids, s, combiner='sqrtn'), 'slice': sp.to_dense(sp.slice(s, [0, 1], [2, 3])), 'add': sp.to_dense(sp.add(s, s)), 'cat': sp.to_dense(sp.concat(1, [s, s])), 'reord': sp.to_dense(sp.reorder(s)), 'resh': sp.to_dense(sp.reshape(s, [5, 3])), 'sm': sp.to_dense(sp.softmax(s)), 'tr': sp.to_dense(sp.transpose(s)), 'mul': (s * dense[:, :1][0]).values, 'ind': sp.to_indicator(ids, 10), 'max': sp.maximum(s, s).values, 'cross': sp.to_dense(sp.cross_hashed([ids, ids], 50)), 'bc': sp.to_dense(sp.bincount(ids, axis=-1, minlength=10)), 'ret': sp.retain(s, values > 0).values, 'fd': sp.from_dense(dense).indices, 'seg': tf.sets.size(tf.sets.intersection(dense[None, 0:1] > 0 if False else tf.constant([[1, 2, 3]]), tf.constant([[2, 3, 4]])))}
    one(n, fn, {'indices': TS([None, 2], tf.int64), 'values': TS([None], f32), 'dense': TS([5, 2], f32)}, {'indices': np.array([[0, 0], [0, 3], [2, 1], [2, 4]]), 'values': N(n, 4), 'dense': N(n + 'd', 5, 2)}, obj=m)

def battery(name, mk, spec, ins): model(name)(lambda n: one(n, mk, spec, ins))

def un(x):
    M = tf.math; y = tf.abs(x) + .1; c = tf.clip_by_value(x, -.95, .95); o = {}
    for f in 'abs acosh asinh atan ceil cos cosh erf exp expm1 floor negative reciprocal rint round sigmoid sign sin sinh softplus softsign square tan tanh is_nan is_inf is_finite log_sigmoid'.split(): o[f] = getattr(M, f)(x + 3 if f == 'acosh' else x)
    for f in 'digamma lgamma log log1p rsqrt sqrt erfc sobol' .split():
        if hasattr(M, f): o[f] = getattr(M, f)(y)
    for f in 'acos asin atanh erfinv ndtri'.split(): o[f] = getattr(M, f)(tf.abs(c) * .9 + .01)
    for f in 'bessel_i0 bessel_i0e bessel_i1 bessel_i1e'.split(): o[f] = getattr(M, f)(x)
    for f in 'relu relu6 elu selu gelu leaky_relu silu crelu softmax log_softmax'.split(): o['nn_' + f] = getattr(tf.nn, f)(x)
    o['zeta'] = M.zeta(y + 1.5, y); o['polygamma'] = M.polygamma(tf.ones_like(y), y); o['igamma'] = M.igamma(y, y); o['igammac'] = M.igammac(y, y); o['betainc'] = M.betainc(y, y, tf.sigmoid(x)); o['nextafter'] = M.nextafter(x, y); o['xlogy'] = M.xlogy(x, y); o['xlog1py'] = M.xlog1py(x, y); o['xdivy'] = M.xdivy(x, y); o['mnn'] = M.multiply_no_nan(x, y); o['dnn'] = M.divide_no_nan(x, x - x); o['trunc'] = tf.truncatediv(tf.cast(x * 7, tf.int32), 3); o['inv'] = tf.raw_ops.Inv(x=y)
    return o
battery('m_math_unary', un, {'x': TS([None], f32)}, {'x': np.linspace(-2.5, 2.5, 21, dtype='f')})

def bi(a, b, i, j):
    M = tf.math; o = {}
    for f in 'add subtract multiply divide floordiv floormod maximum minimum squared_difference atan2 pow truediv less less_equal greater greater_equal equal not_equal'.split(): o[f] = getattr(M, f)(tf.abs(a) if f == 'pow' else a, b)
    for f in 'add subtract multiply floordiv floormod maximum minimum less equal'.split(): o['i_' + f] = getattr(M, f)(i, j)
    o['truncmod'] = tf.truncatemod(i, j); o['and'] = (a > 0) & (b > 0); o['or'] = (a > 0) | (b > 0); o['xor'] = M.logical_xor(a > 0, b > 0); o['not'] = ~(a > 0); B = tf.bitwise
    o['band'] = B.bitwise_and(i, j); o['bor'] = B.bitwise_or(i, j); o['bxor'] = B.bitwise_xor(i, j); o['shl'] = B.left_shift(i, 2); o['shr'] = B.right_shift(i, 1); o['inv'] = B.invert(i); o['bias'] = tf.nn.bias_add(a, b[0]); o['approx'] = M.abs(a - b) < .5; o['addn'] = M.add_n([a, a]); o['where'] = tf.where(a > 0, a, b); o['sel'] = tf.compat.v1.where(a > 0, a, a * 2); o['clip'] = tf.clip_by_value(a, -1., .5)
    return o
battery('m_math_binary', bi, {'a': TS([None, 3], f32), 'b': TS([1, 3], f32), 'i': TS([None], tf.int32), 'j': TS([], tf.int32)}, {'a': N('mb', 4, 3), 'b': np.array([[1.5, -.7, 2.]], 'f'), 'i': np.array([7, -7, 12, 0, -1]), 'j': 3})

def red(x, i):
    M = tf; o = {}
    for f in 'sum mean max min prod logsumexp variance std euclidean_norm'.split():
        g = getattr(tf.math, 'reduce_' + f); o[f] = g(x, [1]); o[f + '_all'] = g(x); o[f + '_k'] = g(x, [0, 2], keepdims=True)
    o['isum'] = M.reduce_sum(i, 0); o['imean'] = M.reduce_mean(i); o['any'] = M.reduce_any(x > 1, 1); o['all'] = M.reduce_all(x > -1, -1); o['argmax'] = M.argmax(x, 1); o['argmin'] = M.argmin(x, -1, output_type=tf.int32); o['cs'] = M.cumsum(x, 1); o['cse'] = M.cumsum(x, 1, exclusive=True, reverse=True); o['cp'] = M.math.cumprod(x, 0); o['clse'] = M.math.cumulative_logsumexp(x, 1); o['topv'], o['topi'] = M.math.top_k(x, 2); o['sort'] = M.sort(x, 1, 'DESCENDING'); o['argsort'] = M.argsort(x, 1, stable=True); o['nz'] = M.math.count_nonzero(i); o['in_top_k'] = M.math.in_top_k([1, 2], x[0, :2], 1); m, v = tf.nn.moments(x, [0]); o['mom'] = v; o['nth'] = tf.raw_ops.NthElement(input=x, n=1); o['xent'] = tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(x), x); o['sxent'] = tf.nn.sparse_softmax_cross_entropy_with_logits([1, 0], x[0, :2]); o['sigx'] = tf.nn.sigmoid_cross_entropy_with_logits(tf.sigmoid(x), x); o['l2'] = tf.nn.l2_loss(x); o['hist'] = tf.histogram_fixed_width(x, [-2., 2.], 5)
    return o
battery('m_reduce', red, {'x': TS([None, 3, 4], f32), 'i': TS([None], tf.int64)}, {'x': N('mr', 2, 3, 4), 'i': np.array([3, 0, -5, 9])})

def shp(x, i):
    o = {'ss': x[:, ::-1, 1:3], 'ell': x[..., None, 0], 'new': x[tf.newaxis, 1], 'neg': x[-1, -2:], 'dyn': x[: i[0], i[1]:], 'tr': tf.transpose(x, [2, 0, 1]), 'resh': tf.reshape(x, [-1, 2]), 'exp': tf.expand_dims(x, 1), 'sq': tf.squeeze(x[:1], [0]), 'cat': tf.concat([x, x], -1), 'stack': tf.stack([x, x], 1), 'unst': tf.unstack(x, axis=2)[1], 'split': tf.split(x, 2, 2)[1], 'splitv': tf.split(x, [1, 3], 2)[1], 'tile': tf.tile(x, [1, 2, 1]), 'pad': tf.pad(x, [[0, 0], [1, 1], [0, 2]]), 'padc': tf.pad(x, [[0, 0], [1, 1], [0, 2]], constant_values=3.), 'padr': tf.pad(x, [[0, 0], [1, 1], [2, 1]], 'REFLECT'), 'pads': tf.pad(x, [[0, 0], [1, 1], [2, 1]], 'SYMMETRIC'), 'rev': tf.reverse(x, [0, 2]), 'roll': tf.roll(x, [1, -1], [0, 2]), 'gather': tf.gather(x, i, axis=1), 'gbd': tf.gather(x, [[0, 1], [2, 0]], axis=1, batch_dims=1), 'gnd': tf.gather_nd(x, [[0, 1], [1, 2]]), 'snd': tf.scatter_nd([[1], [3]], x[0, :2], [5, 4]), 'tsu': tf.tensor_scatter_nd_update(x, [[0, 1]], [[9., 9, 9, 9]]), 'tsm': tf.tensor_scatter_nd_max(x, [[0, 1]], [[0., 0, 0, 0]]), 'oh': tf.one_hot(i, 4, on_value=2., off_value=-1., axis=0), 'bt': tf.broadcast_to(x[:, :1], tf.shape(x)), 'mg': tf.meshgrid(i, i)[1], 'range': tf.range(0, i[1] * 3, 2), 'lin': tf.linspace(0., 1., 5), 'fill': tf.fill([2, i[1]], 7), 'zl': tf.zeros_like(x), 'ol': tf.ones_like(i), 'size': tf.size(x), 'rank': tf.rank(x), 'shape64': tf.shape(x, out_type=tf.int64), 's2b': tf.space_to_batch(tf.reshape(x[:, :2], [2, 2, 4, 1]), [2, 2], [[0, 0], [0, 0]]), 'b2s': tf.batch_to_space(tf.reshape(x[..., :2], [4, 3, 1, 1])[:4], [2, 2], [[0, 0], [0, 0]]), 's2d': tf.nn.space_to_depth(tf.reshape(x[:, :2], [2, 2, 4, 1]), 2), 'd2s': tf.nn.depth_to_space(tf.reshape(x, [2, 1, 3, 4]), 2), 'revseq': tf.reverse_sequence(x, [2, 3], 1, 0), 'seqmask': tf.sequence_mask(i, 5), 'where': tf.where(x > 0), 'uniq': tf.unique(i)[0], 'uc': tf.unique_with_counts(i)[2], 'ss_': tf.searchsorted(tf.constant([0., 1, 2]), x[0, 0], 'right'), 'invp': tf.math.invert_permutation([2, 0, 1]), 'slice': tf.slice(x, [0, 1, 0], [-1, 2, 3]), 'bc': tf.raw_ops.BroadcastArgs(s0=tf.shape(x), s1=[3, 4]), 'stopg': tf.stop_gradient(x), 'cast': tf.cast(tf.cast(x, tf.int32), tf.float64), 'bitc': tf.bitcast(x, tf.int32), 'bucket': tf.raw_ops.Bucketize(input=x, boundaries=[-1., 0., 1.]), 'ens': tf.ensure_shape(x, [None, 3, 4]), 'pvt': tf.raw_ops.PlaceholderWithDefault(input=x, shape=[None, 3, 4]), 'tri': tf.linalg.band_part(tf.ones([4, 4]), -1, 0), 'rep': tf.repeat(i, 2), 'diff': tf.raw_ops.ListDiff(x=i, y=[1])[0], 'unr': tf.unravel_index([5, 7], [3, 4]), 'confm': tf.math.confusion_matrix([1, 2], [1, 0], 3)}
    return o
battery('m_shape_ops', shp, {'x': TS([2, 3, 4], f32), 'i': TS([None], tf.int32)}, {'x': N('ms', 2, 3, 4), 'i': np.array([1, 2, 0])})

@model('m_conv_raw')
def _(n):
    m = tf.Module(); m.k = tf.Variable(N(n, 3, 3, 4, 5) * .2); m.dk = tf.Variable(N(n, 3, 3, 4, 2) * .2)
    def fn(x):
        c = tf.nn; f = tf.raw_ops.FusedBatchNormV3(x=x, scale=tf.ones(4) * 1.1, offset=tf.ones(4) * .1, mean=tf.ones(4) * .2, variance=tf.ones(4) * .9, epsilon=1e-3, is_training=False)
        return {'exp': c.conv2d(x, m.k, 1, [[0, 0], [1, 2], [0, 1], [0, 0]]), 'bp': c.conv2d_transpose(x[..., :4], tf.transpose(m.k, [0, 1, 3, 2]), [1, 20, 18, 5], 2, 'SAME'), 'dwb': c.depthwise_conv2d(x, m.dk, [1, 2, 2, 1], 'VALID'), 'dil': tf.raw_ops.Conv2D(input=x, filter=m.k, strides=[1, 1, 1, 1], padding='VALID', dilations=[1, 2, 2, 1]), 'bn': f[0], 'bnt': c.batch_normalization(x, tf.reduce_mean(x, [0, 1, 2]), tf.math.reduce_variance(x, [0, 1, 2]), None, None, 1e-3), 'mpa': tf.nn.max_pool_with_argmax(x, 2, 2, 'SAME')[1], 'dila': c.dilation2d(x, tf.zeros([3, 3, 4]), [1, 1, 1, 1], 'SAME', 'NHWC', [1, 1, 1, 1]), 'ero': c.erosion2d(x, tf.zeros([3, 3, 4]), [1, 1, 1, 1], 'SAME', 'NHWC', [1, 1, 1, 1]), 'atr': c.atrous_conv2d(x, m.k, 2, 'SAME'), 'mp3': c.max_pool3d(x[:, None], 2, 2, 'SAME'), 'convv2': tf.nn.convolution(x, m.k, padding='SAME', dilations=[3, 1]), 'pool': tf.nn.pool(x, [2, 2], 'AVG', padding='VALID', dilations=[2, 2]), 'lrn': c.lrn(x), 'quantmp': tf.raw_ops.MaxPoolV2(input=x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='VALID')}
    one(n, fn, {'x': TS([1, 10, 9, 4], f32)}, {'x': N(n, 1, 10, 9, 4)}, obj=m)

@model('m_random_stateless')
def _(n):
    r = tf.random
    def fn(seed): return {'u': r.stateless_uniform([3, 5], seed), 'n': r.stateless_normal([7], seed), 't': r.stateless_truncated_normal([9], seed), 'i': r.stateless_uniform([6], seed, 0, 100, tf.int32), 'i64': r.stateless_uniform([6], seed, 0, 1 << 40, tf.int64), 'full': r.stateless_uniform([4], seed, None, None, tf.int32), 'c': r.stateless_categorical(tf.math.log([[.1, .6, .3]]), 8, seed), 'sh': r.experimental.stateless_shuffle(tf.range(8), seed), 'ph': r.stateless_uniform([4], seed, alg='philox'), 'split': r.split(seed), 'fold': r.fold_in(seed, 7), 'v1': tf.raw_ops.StatelessRandomUniform(shape=[3], seed=seed), 'g': r.stateless_gamma([3], seed, 2.), 'p': r.stateless_poisson([3], seed, 4.), 'd': tf.nn.experimental.stateless_dropout(tf.ones([10]), .3, seed)}
    one(n, fn, {'seed': TS([2], tf.int32)}, [{'seed': np.array([1, 2])}, {'seed': np.array([-5, 77])}])

@model('m_random_stateful_seeded')
def _(n):
    m = tf.Module(); m.g = tf.random.Generator.from_seed(5)
    def fn(k): return {'u': tf.random.uniform([k], seed=3), 'n': tf.random.normal([k], seed=4), 'shuffle_sorted': tf.sort(tf.random.shuffle(tf.range(k), seed=1)), 'gen': m.g.uniform([3]), 'cat_shape': tf.shape(tf.random.categorical([[.2, .8]], 4, seed=1)), 'tn': tf.random.truncated_normal([k], seed=9), 'ri': tf.random.uniform([k], 0, 9, tf.int32, seed=2)}
    one(n, fn, {'k': TS([], tf.int32)}, {'k': 5}, obj=m)

@model('m_fake_quant')
def _(n):
    q = tf.quantization; m = tf.Module(); m.lo = tf.Variable(-1.5); m.hi = tf.Variable(1.7); m.plo = tf.Variable([-1., -2, -.5]); m.phi = tf.Variable([1., 2, .7]); m.w = tf.Variable(N(n, 3, 4))
    def fn(x):
        a, lo, hi = q.quantize(x, -2., 2., tf.quint8); return {'args': q.fake_quant_with_min_max_args(x, -1, 1, 8), 'vars': q.fake_quant_with_min_max_vars(x, m.lo, m.hi, 8, narrow_range=True), 'pc': q.fake_quant_with_min_max_vars_per_channel(x, m.plo, m.phi, 4), 'dq': q.dequantize(a, lo, hi), 'qdq': q.quantize_and_dequantize_v2(x, -1., 1., range_given=True), 'qdq3': q.quantize_and_dequantize_v2(x, 0., 0., range_given=False), 'int8mm': tf.cast(tf.cast(tf.round(x * 10), tf.int8), tf.int32) @ tf.cast(tf.round(m.w * 10), tf.int32), 'mm': q.fake_quant_with_min_max_args(x @ q.fake_quant_with_min_max_vars(m.w, m.lo, m.hi), 0, 6), 'bc': tf.bitcast(a, tf.uint8)}
    one(n, fn, {'x': TS([None, 3], f32)}, {'x': N(n, 4, 3)}, obj=m)

@model('m_ctc_crf')
def _(n):
    def fn(logits, lens):
        d, lp = tf.nn.ctc_greedy_decoder(logits, lens); b, bl = tf.nn.ctc_beam_search_decoder(logits, lens, beam_width=4, top_paths=2); return {'g': tf.sparse.to_dense(d[0], -1), 'lp': lp, 'b0': tf.sparse.to_dense(b[0], -1), 'b1': tf.sparse.to_dense(b[1], -1), 'bl': bl, 'ed': tf.edit_distance(d[0], b[0])}
    one(n, fn, {'logits': TS([None, 2, 5], f32), 'lens': TS([2], tf.int32)}, {'logits': N(n, 7, 2, 5) * 3, 'lens': np.array([7, 5])})

@model('m_dtypes')
def _(n):
    def fn(x):
        o = {}
        for t in 'float16 bfloat16 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool complex64 complex128'.split():
            d = tf.as_dtype(t); y = tf.cast(x, d)
            if t == 'bool': o[t] = tf.logical_not(y)
            elif t.startswith('complex'): o[t] = y * tf.cast(tf.complex(1., 2.), d)
            else: o[t] = y * tf.cast(2, d) + tf.cast(1, d) if t not in ('uint16x',) else y
        for t in 'float8_e4m3fn float8_e5m2'.split():
            try: o[t] = tf.cast(tf.cast(x, getattr(tf.dtypes.experimental, t)), f32)
            except Exception as e: print('skip', t, str(e)[:60])
        h = tf.cast(x, tf.bfloat16)[:, None]; o['bfmm'] = tf.cast(h @ tf.transpose(h), f32); hh = tf.cast(x, tf.float16)[:, None]; o['hmm'] = hh @ tf.transpose(hh); o['bfsm'] = tf.nn.softmax(tf.cast(x, tf.bfloat16)); o['i32mm'] = tf.cast(x, tf.int32)[:, None] @ tf.cast(x, tf.int32)[None]; o['f64mm'] = tf.cast(x, tf.float64)[:, None] @ tf.cast(x, tf.float64)[None]
        return o
    one(n, fn, {'x': TS([None], f32)}, {'x': np.array([0., 1, 2.6, 3, 17.4, 100.5], 'f')})

@model('m_xla_jit')
def _(n):
    m = tf.Module(); m.w = tf.Variable(N(n, 4, 3))
    def fn(x): return {'y': tf.nn.softmax(tf.tanh(x @ m.w))}
    fn._jit = True
    one(n, fn, {'x': TS([None, 4], f32)}, {'x': N(n, 2, 4)}, obj=m)

@model('m_nested_calls_customgrad')
def _(n):
    m = tf.Module(); m.w = tf.Variable(N(n, 4, 4))
    @tf.custom_gradient
    def sq(x): return x * x, lambda g: 2 * x * g
    @tf.function
    def a(x): return tf.tanh(x @ m.w)
    @tf.function
    def b(x): return a(a(x)) + sq(x)
    @tf.function
    def c(x, k=2):
        for _ in range(k): x = b(x)
        return x
    @tf.function(experimental_implements='my.fused', autograph=False)
    def d(x): return tf.nn.relu(x)
    def fn(x):
        with tf.GradientTape() as t: t.watch(x); y = tf.reduce_sum(sq(tf.tanh(x)))
        return {'y': d(c(x)), 'g': t.gradient(y, x), 'rc': tf.recompute_grad(lambda v: tf.sin(v))(x)}
    one(n, fn, {'x': TS([None, 4], f32)}, {'x': N(n, 2, 4)}, obj=m)

@model('m_assert_print_ctrl')
def _(n):
    m = tf.Module(); m.v = tf.Variable(1.)
    def fn(x):
        tf.debugging.assert_rank(x, 1); tf.debugging.assert_greater(tf.size(x), 0, 'empty'); tf.debugging.assert_all_finite(x, 'nf'); tf.print('dbg', tf.shape(x), output_stream='file:///dev/null'); x = tf.debugging.check_numerics(x, 'cn')
        with tf.control_dependencies([m.v.assign(m.v + 1.)]): y = x * m.v.read_value()
        m.v.assign(1.); return {'y': y, 'g': tf.identity_n([x, y])[0], 'nan': tf.raw_ops.CheckNumericsV2(tensor=x, message='q')}
    one(n, fn, {'x': TS([None], f32)}, {'x': np.array([1., 2], 'f')}, obj=m)

@model('m_resource_scatter')
def _(n):
    m = tf.Module(); m.t = tf.Variable(np.arange(12, dtype='f').reshape(4, 3)); m.kv = tf.Variable(tf.zeros([1, 5, 2]))
    def fn(i, u, pos): m.t.scatter_update(tf.IndexedSlices(u, i)); a = tf.identity(m.t.read_value()); m.t.scatter_nd_add([[0]], [[1., 1, 1]]); b = m.t.sparse_read(i); m.kv[:, pos].assign(u[:1, :2]); c = m.t.gather_nd([[1, 2]]); return {'a': a, 'b': b, 'kv': m.kv.read_value(), 'c': c, 'v': m.t + 0}
    one(n, fn, {'i': TS([None], tf.int32), 'u': TS([None, 3], f32), 'pos': TS([], tf.int32)}, {'i': np.array([1, 3]), 'u': N(n, 2, 3), 'pos': 2}, obj=m)

@model('m_kv_cache_decode')
def _(n):
    V, D, T = 32, 16, 12; m = tf.Module(); m.e = tf.Variable(N(n, V, D)); m.wq = tf.Variable(N(n + 'q', D, D) * .3); m.wk = tf.Variable(N(n + 'k', D, D) * .3); m.wv = tf.Variable(N(n + 'v', D, D) * .3)
    def fn(prompt):
        b = tf.shape(prompt)[0]; p = tf.shape(prompt)[1]; toks = tf.concat([prompt, tf.zeros([b, T - p], tf.int32)], 1); kc = tf.zeros([b, T, D]); vc = tf.zeros([b, T, D]); i = 0
        while i < T - 1:
            x = tf.gather(m.e, toks[:, i]); oh = tf.one_hot(i, T)[None, :, None]; kc = kc * (1 - oh) + oh * (x @ m.wk)[:, None]; vc = vc * (1 - oh) + oh * (x @ m.wv)[:, None]; s = tf.einsum('bd,btd->bt', x @ m.wq, kc) / 4.; s = tf.where(tf.range(T)[None] <= i, s, -1e9); h = x + tf.einsum('bt,btd->bd', tf.nn.softmax(s), vc); nx = tf.argmax(h @ tf.transpose(m.e), -1, output_type=tf.int32)
            nx = tf.where(i + 1 < p, toks[:, i + 1], nx); toks = tf.tensor_scatter_nd_update(toks, tf.stack([tf.range(b), tf.fill([b], i + 1)], 1), nx); i += 1
        return {'ids': toks}
    one(n, fn, {'prompt': TS([None, None], tf.int32)}, [{'prompt': np.array([[1, 5, 7], [2, 2, 9]])}, {'prompt': np.array([[3]])}], obj=m)

@model('m_bert_wordpiece_pure_tf')
def _(n):
    voc = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', 'the', 'fox', 'jump', '##ed', 'ö', '日', '本', 'ü', '##s']; m = tf.Module(); m.t = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(voc, tf.range(len(voc), dtype=tf.int64)), 1)
    def fn(text):
        t = tf.strings.lower(text, 'utf-8'); t = tf.strings.regex_replace(t, r'([\p{P}\p{Han}])', r' \1 '); w = tf.strings.split(t); ids = tf.ragged.map_flat_values(m.t.lookup, w); b = tf.shape(text)[0]; cls = tf.fill([b, 1], tf.constant(2, tf.int64)); sep = cls + 1; ids = tf.concat([cls, ids[:, :6], sep], 1); return {'ids': ids.to_tensor(0, shape=[None, 8]), 'mask': tf.cast(tf.sequence_mask(ids.row_lengths(), 8), tf.int32)}
    one(n, fn, {'text': TS([None], tf.string)}, {'text': S(['The FOX jumped', '日本 ö', '', 'the the the the the the the the'])}, obj=m)

@model('m_dataset_inside')
def _(n):
    def fn(x): ds = tf.data.Dataset.from_tensor_slices(x).map(lambda t: t * 2).filter(lambda t: t > 0).batch(2); return {'s': ds.reduce(0., lambda a, b: a + tf.reduce_sum(b))}
    one(n, fn, {'x': TS([None], f32)}, {'x': N(n, 7)})

@model('m_composite_and_optional_inputs')
def _(n):
    m = tf.Module(); m.w = tf.Variable(N(n, 3, 2))
    @tf.function(input_signature=[{'a': TS([None, 3], f32), 'b': [TS([None, 2], f32), TS([], f32)]}])
    def call(d): return {'out': d['a'] @ m.w + d['b'][0], 'nested': (d['b'][1],)} if False else d['a'] @ m.w + d['b'][0] * d['b'][1]
    m.call = call; p = dirpath(n); tf.saved_model.save(m, p, signatures={'serving_default': call.get_concrete_function()}); l = tf.saved_model.load(p); print(l.signatures['serving_default'].structured_input_signature); golden_v2(n, p, {'serving_default': [{'a': N(n, 2, 3), 'b': N(n, 2, 2), 'b_1': 2.}]}) if 'b_1' in l.signatures['serving_default'].structured_input_signature[1] else None

@model('m_no_signature_callable_only')
def _(n):
    m = tf.Module(); m.v = tf.Variable(3.)
    m.f = tf.function(lambda x: x * m.v, input_signature=[TS([None], f32)]); p = dirpath(n); tf.saved_model.save(m, p)

@model('m_no_variables_consts_only')
def _(n): one(n, lambda x: {'y': tf.matmul(x, tf.constant(N(n, 4, 4))), 'big': tf.zeros([2000])[:3]}, {'x': TS([1, 4], f32)}, {'x': N(n, 1, 4)})

@model('m_save_options_variable_policy')
def _(n):
    m = tf.Module(); m.w = tf.Variable(N(n, 4, 3)); one(n, lambda x: {'y': x @ m.w}, {'x': TS([None, 4], f32)}, {'x': N(n, 2, 4)}, obj=m, options=tf.saved_model.SaveOptions(experimental_variable_policy='save_variable_devices', namespace_whitelist=['X'], function_aliases={}))

@model('m_optimizer_slots_ckpt')
def _(n):
    m = tf.Module(); m.w = tf.Variable(N(n, 4, 3)); m.opt_m = tf.Variable(tf.zeros([4, 3])); m.lst = [tf.Variable(1.), tf.Variable([2, 3])]; m.dct = {'a/b': tf.Variable(4.), 'ü': tf.Variable('text')}; m.big = tf.Variable(N(n, 50, 40))
    one(n, lambda x: {'y': x @ m.w * m.lst[0] + m.dct['a/b'], 's': m.dct['ü'].read_value(), 'b': tf.reduce_sum(m.big)}, {'x': TS([None, 4], f32)}, {'x': N(n, 2, 4)}, obj=m)

if __name__ == '__main__': run_all(setup)
