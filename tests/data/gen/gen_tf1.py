"""TF1-style graphs (tf.compat.v1): ref variables, control flow v1, partitioned variables, main_op/legacy_init_op, assets."""
from common import *
import tensorflow as tf
T = tf.compat.v1
T.disable_eager_execution(); T.disable_v2_behavior()
S = lambda v: np.array(v, dtype=object)
def N(name, *s): return rng(name + 'in').normal(0, 1, s).astype('float32')
def setup(name): T.reset_default_graph(); T.set_random_seed(seed_of(name)); T.disable_control_flow_v2(); T.disable_resource_variables()
U = lambda n: T.random_uniform_initializer(-.5, .5, seed=seed_of(n) % 1000)
get = T.get_variable

def build(name, sigs, cases, main_op=None, legacy_init_op=None, assets=None, tags=('serve',), strip=False, init_tables=True, saver=None, extra_mg=None):
    """sigs: {sig: (inputs{}, outputs{}, method)}"""
    p = dirpath(name); b = T.saved_model.Builder(p)
    with T.Session() as s:
        s.run(T.global_variables_initializer()); s.run(T.local_variables_initializer())
        if init_tables: s.run(T.tables_initializer())
        sd = {}
        for k, (i, o, *meth) in sigs.items():
            ti = T.saved_model.utils.build_tensor_info
            sd[k] = T.saved_model.signature_def_utils.build_signature_def({a: ti(t) for a, t in i.items()}, {a: ti(t) for a, t in o.items()}, meth[0] if meth else 'tensorflow/serving/predict')
        b.add_meta_graph_and_variables(s, list(tags), sd, assets_collection=T.get_collection(T.GraphKeys.ASSET_FILEPATHS) if assets else None, legacy_init_op=legacy_init_op, main_op=main_op, strip_default_attrs=strip, saver=saver)
        if extra_mg: b.add_meta_graph(list(extra_mg), sd)
    b.save(); golden_v1(name, p, cases, tags)

def ph(shape, name, dt=tf.float32): return T.placeholder(dt, shape, name)
P = 'serving_default'

@model('t1_half_plus_two')
def _(n):
    x = ph([None], 'x'); a = T.Variable(.5, name='a'); c = T.Variable(2., name='b'); y = tf.add(tf.multiply(a, x), c, 'y')
    build(n, {P: ({'x': x}, {'y': y})}, {P: [{'x': np.arange(4, dtype='f')}]})

@model('t1_simple_save')
def _(n):
    x = ph([None, 4], 'x'); w = get('w', [4, 3], initializer=U(n)); y = T.nn.softmax(tf.matmul(x, w)); p = dirpath(n)
    with T.Session() as s: s.run(T.global_variables_initializer()); T.saved_model.simple_save(s, p, {'x': x}, {'y': y})
    golden_v1(n, p, {P: [{'x': N(n, 2, 4)}]})

@model('t1_mnist_cnn_dropout_bn')
def _(n):
    x = ph([None, 784], 'images'); keep = T.placeholder_with_default(1., [], 'keep_prob'); tr = T.placeholder_with_default(False, [], 'is_training'); h = tf.reshape(x, [-1, 28, 28, 1])
    for i, (a, c) in enumerate(((1, 8), (8, 16))):
        k = get(f'k{i}', [5, 5, a, c], initializer=U(n + str(i))); h = tf.nn.conv2d(h, filters=k, strides=[1, 1, 1, 1], padding='SAME'); g = get(f'g{i}', [c], initializer=U(n + 'g')); be = get(f'b{i}', [c], initializer=U(n + 'b')); mm = get(f'mm{i}', [c], initializer=U(n + 'm'), trainable=False); mv = get(f'mv{i}', [c], initializer=T.ones_initializer(), trainable=False)
        h = T.cond(tr, lambda: T.nn.fused_batch_norm(h, g, be, is_training=True)[0], lambda: T.nn.fused_batch_norm(h, g, be, mean=mm, variance=mv, is_training=False)[0]); h = tf.nn.relu(h); h = T.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], 'SAME')
    h = tf.reshape(h, [-1, 7 * 7 * 16]); h = T.nn.xw_plus_b(h, get('w', [784, 10], initializer=U(n + 'w')), get('b', [10], initializer=T.zeros_initializer())); h = T.nn.dropout(h, keep_prob=keep); pr = T.nn.softmax(h, name='probs'); lab = ph([None], 'labels', tf.int64); loss = tf.reduce_mean(T.nn.sparse_softmax_cross_entropy_with_logits(labels=lab, logits=h)); gs = T.train.get_or_create_global_step(); T.train.AdamOptimizer(1e-3).minimize(loss, gs)
    build(n, {P: ({'images': x}, {'probs': pr, 'classes': tf.argmax(pr, 1)}), 'with_flags': ({'images': x, 'is_training': tr, 'keep_prob': keep}, {'probs': pr})}, {P: [{'images': N(n, 2, 784)}], 'with_flags': [{'images': N(n, 3, 784), 'is_training': False, 'keep_prob': np.float32(1)}]})

@model('t1_while_v1')
def _(n):
    x = ph([None, 4], 'x'); k = ph([], 'k', tf.int32); w = get('w', [4, 4], initializer=U(n))
    _, y, acc = T.while_loop(lambda i, a, s: i < k, lambda i, a, s: (i + 1, tf.tanh(tf.matmul(a, w)), s + tf.reduce_sum(a)), [0, x, 0.]);
    _, z = T.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, T.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, b + 1.), [0, a])[1]), [0, x], parallel_iterations=1)
    build(n, {P: ({'x': x, 'k': k}, {'y': y, 'acc': acc, 'nested': z})}, {P: [{'x': N(n, 2, 4), 'k': np.int32(5)}, {'x': N(n, 1, 4), 'k': np.int32(0)}]})

@model('t1_cond_v1')
def _(n):
    x = ph([None], 'x'); a = T.cond(tf.reduce_sum(x) > 0, lambda: T.cond(tf.size(x) > 2, lambda: x * 2, lambda: x + 5), lambda: tf.negative(x)); v = get('v', [], initializer=U(n)); b = T.cond(x[0] > 0, lambda: v * 2, lambda: v - 1); c = T.case([(x[0] > 1, lambda: tf.constant(1)), (x[0] > 0, lambda: tf.constant(2))], default=lambda: tf.constant(3))
    build(n, {P: ({'x': x}, {'a': a, 'b': b, 'c': c})}, {P: [{'x': np.array([1., 2, 3], 'f')}, {'x': np.array([.5], 'f')}, {'x': np.array([-1., -2], 'f')}]})

@model('t1_dynamic_rnn')
def _(n):
    import tf_keras  # noqa: LSTM cells in TF1 style need Keras 2; hand-written instead
    x = ph([None, None, 3], 'x'); ln = ph([None], 'len', tf.int32); k = get('k', [3 + 4, 16], initializer=U(n)); b = get('b', [16], initializer=T.zeros_initializer()); xt = tf.transpose(x, [1, 0, 2]); tt = tf.shape(xt)[0]; bs = tf.shape(x)[0]; ta = T.TensorArray(tf.float32, tt).unstack(xt); out = T.TensorArray(tf.float32, tt)
    def body(t, c, h, out):
        i, j, f, o = tf.split(tf.matmul(tf.concat([ta.read(t), h], 1), k) + b, 4, 1); c2 = tf.sigmoid(f + 1.) * c + tf.sigmoid(i) * tf.tanh(j); h2 = tf.sigmoid(o) * tf.tanh(c2); m = (t < ln); return t + 1, T.where(m, c2, c), T.where(m, h2, h), out.write(t, T.where(m, h2, tf.zeros_like(h2)))
    _, c, h, out = T.while_loop(lambda t, *_: t < tt, body, [0, tf.zeros([bs, 4]), tf.zeros([bs, 4]), out], swap_memory=True); y = tf.transpose(out.stack(), [1, 0, 2]); y.set_shape([None, None, 4]); loss = tf.reduce_sum(y); T.gradients(loss, [k])
    build(n, {P: ({'x': x, 'len': ln}, {'y': y, 'h': h})}, {P: [{'x': N(n, 2, 5, 3), 'len': np.array([5, 3], 'i')}]})

@model('t1_tensor_array_v3')
def _(n):
    x = ph([None, 3], 'x'); m = T.map_fn(lambda r: r * 2 + 1, x); s = T.scan(lambda a, r: a + r, x); f = T.foldl(lambda a, r: a * .5 + r, x); ta = T.TensorArray(tf.float32, 0, dynamic_size=True); ta = ta.write(0, x[0]); ta = ta.write(3, x[1]); ta = ta.write(1, x[1]).write(2, x[0]); sc = T.TensorArray(tf.float32, 4).scatter([3, 0, 1, 2], tf.concat([x[:2], x[:2]], 0)); sp = T.TensorArray(tf.float32, 2).split(tf.concat([x[:2, 0], x[:2, 1]], 0), [2, 2])
    build(n, {P: ({'x': x}, {'map': m, 'scan': s, 'fold': f, 'st': ta.stack(), 'cat': sp.read(1), 'g': sc.gather([0, 3]), 'sz': ta.size()})}, {P: [{'x': N(n, 4, 3)}]})

@model('t1_lstm_block_cell')
def _(n):
    x = ph([5, None, 3], 'x'); w = get('w', [7, 16], initializer=U(n)); z = tf.zeros([tf.shape(x)[1], 4]); zz = tf.zeros([4]); o = tf.raw_ops.BlockLSTM(seq_len_max=tf.constant(5, tf.int64), x=x, cs_prev=z, h_prev=z, w=w, wci=zz, wcf=zz, wco=zz, b=tf.zeros([16])); g = tf.raw_ops.GRUBlockCell(x=x[0], h_prev=z, w_ru=w[:, :8], w_c=w[:, :4], b_ru=tf.ones([8]), b_c=tf.zeros([4])); l = tf.raw_ops.LSTMBlockCell(x=x[0], cs_prev=z, h_prev=z, w=w, wci=zz, wcf=zz, wco=zz, b=tf.zeros([16]), forget_bias=1.)
    build(n, {P: ({'x': x}, {'h': o[6], 'c': o[1], 'gru': g[3], 'lc': l[6]})}, {P: [{'x': N(n, 5, 2, 3)}]})

@model('t1_partitioned_vars')
def _(n):
    ids = ph([None], 'ids', tf.int64)
    with T.variable_scope('emb', partitioner=T.fixed_size_partitioner(3)): e = get('table', [10, 4], initializer=U(n))
    y = T.nn.embedding_lookup(e, ids, partition_strategy='div'); y2 = T.nn.embedding_lookup(list(e), ids % 9, partition_strategy='mod'); w = get('w', [6, 4], initializer=U(n + 'w'), partitioner=T.fixed_size_partitioner(2, axis=0)); z = tf.matmul(y, tf.transpose(tf.convert_to_tensor(w)))
    build(n, {P: ({'ids': ids}, {'y': y, 'mod': y2, 'z': z})}, {P: [{'ids': np.array([0, 3, 4, 9, 7])}]})

@model('t1_main_op_tables_assets')
def _(n):
    vf = os.path.join(tempfile.gettempdir(), 'tare_vocab', 'labels.txt'); os.makedirs(os.path.dirname(vf), exist_ok=True); open(vf, 'w').write('cat\ndog\nbird\nрыба\n'); t = ph([None], 'words', tf.string); i = ph([None], 'ids', tf.int64); a = T.constant(vf, name='vocab_asset'); T.add_to_collection(T.GraphKeys.ASSET_FILEPATHS, a)
    tb = tf.lookup.StaticVocabularyTable(tf.lookup.TextFileInitializer(a, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), 2); inv = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(a, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE), 'UNK'); e = get('e', [6, 3], initializer=U(n))
    build(n, {P: ({'words': t}, {'ids': tb.lookup(t), 'emb': T.nn.embedding_lookup(e, tb.lookup(t))}), 'inverse': ({'ids': i}, {'words': inv.lookup(i)})}, {P: [{'words': S(['dog', 'рыба', 'xyz'])}], 'inverse': [{'ids': np.array([0, 3, 9])}]}, main_op=T.saved_model.main_op_with_restore('save/restore_all') if False else T.saved_model.main_op.main_op(), assets=True)

@model('t1_legacy_init_op')
def _(n):
    t = ph([None], 'w', tf.string); tb = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(tf.constant(['a', 'b']), tf.constant([1, 2], tf.int64)), -1); v = T.Variable(tf.zeros([2]), collections=[T.GraphKeys.LOCAL_VARIABLES]); y = tb.lookup(t); li = T.group(T.tables_initializer(), T.local_variables_initializer(), name='legacy_init_op')
    # v1 hash table op (string-ref handle)
    h = tf.raw_ops.HashTableV2(key_dtype=tf.string, value_dtype=tf.float32); ini = tf.raw_ops.LookupTableImportV2(table_handle=h, keys=['a'], values=[7.]) if False else tf.raw_ops.InitializeTableV2(table_handle=h, keys=['a', 'b'], values=[7., 8.]); T.add_to_collection(T.GraphKeys.TABLE_INITIALIZERS, ini); z = tf.raw_ops.LookupTableFindV2(table_handle=h, keys=t, default_value=tf.constant(-1.))
    build(n, {P: ({'w': t}, {'y': y, 'z': z, 'local': v + 1.})}, {P: [{'w': S(['b', 'a', 'q'])}]}, legacy_init_op=T.group(li, ini))

@model('t1_classify_regress_example')
def _(n):
    ser = ph([None], 'tf_example', tf.string); f = T.parse_example(ser, {'x': T.FixedLenFeature([3], tf.float32), 'c': T.VarLenFeature(tf.string), 'w': T.FixedLenFeature([1], tf.int64, default_value=[4])}); x = tf.identity(f['x'], 'x'); w = get('w', [3, 4], initializer=U(n)); sp = f['c']; hs = tf.strings.to_hash_bucket_fast(sp.values, 8); emb = T.nn.safe_embedding_lookup_sparse(get('e', [8, 4], initializer=U(n + 'e')), T.SparseTensor(sp.indices, hs, sp.dense_shape)); lg = tf.matmul(x, w) + emb + tf.cast(f['w'], tf.float32); pr = T.nn.softmax(lg); v, ix = T.nn.top_k(pr, 4); lab = tf.strings.as_string(ix); tab = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(tf.range(4, dtype=tf.int64), tf.constant(['zero', 'one', 'two', 'drei'])), '?'); cl = tab.lookup(tf.cast(ix, tf.int64))
    from google.protobuf import text_format
    def ex(x, c):
        e = tf.train.Example(); e.features.feature['x'].float_list.value.extend(x); e.features.feature['c'].bytes_list.value.extend(c); return e.SerializeToString(deterministic=True)
    exs = S([ex([1, 2, 3], [b'a', b'bb']), ex([0, -1, 1], [])])
    build(n, {P: ({'inputs': ser}, {'classes': cl, 'scores': v}, 'tensorflow/serving/classify'), 'regress_x_to_y': ({'inputs': ser}, {'outputs': lg[:, :1]}, 'tensorflow/serving/regress'), 'predict': ({'examples': ser}, {'logits': lg, 'label_ids': lab}), 'raw': ({'x': x}, {'xw': tf.matmul(x, w)})}, {P: [{'inputs': exs}], 'regress_x_to_y': [{'inputs': exs}], 'predict': [{'examples': exs}], 'raw': [{'x': N(n, 2, 3)}]}, main_op=T.tables_initializer())

@model('t1_resource_vars_two_tags')
def _(n):
    x = ph([None, 4], 'x'); w = get('w', [4, 3], initializer=U(n), use_resource=True); c = get('c', [], tf.int64, initializer=T.zeros_initializer(), use_resource=True, trainable=False); y = tf.matmul(x, w); inc = T.assign_add(c, 1)
    build(n, {P: ({'x': x}, {'y': y}), 'count': ({}, {'c': tf.identity(inc)})}, {P: [{'x': N(n, 2, 4)}], 'count': [{}, {}]}, tags=('serve', 'cpu'), extra_mg=('serve', 'gpu'))

@model('t1_frozen_consts')
def _(n):
    x = ph([None, 8, 8, 3], 'input'); h = x
    for i, (a, c) in enumerate(((3, 4), (4, 8))):
        k = get(f'k{i}', [3, 3, a, c], initializer=U(n + str(i))); h = T.nn.conv2d(h, k, [1, 2, 2, 1], 'SAME'); h = T.nn.bias_add(h, get(f'b{i}', [c], initializer=U(n + 'b'))); h = tf.nn.relu6(h)
    h = T.nn.avg_pool(h, [1, 2, 2, 1], [1, 1, 1, 1], 'VALID'); h = T.squeeze(h, [1, 2]); y = T.nn.softmax(h, name='out')
    with T.Session() as s: s.run(T.global_variables_initializer()); gd = T.graph_util.convert_variables_to_constants(s, T.get_default_graph().as_graph_def(), ['out'])
    T.reset_default_graph(); x, y = T.import_graph_def(gd, return_elements=['input:0', 'out:0'], name='')
    build(n, {P: ({'input': x}, {'out': y})}, {P: [{'input': N(n, 2, 8, 8, 3)}]})

@model('t1_image_serving')
def _(n):
    b = ph([None], 'image_bytes', tf.string)
    def dec(s): im = T.image.decode_jpeg(s, channels=3); im = T.image.convert_image_dtype(im, tf.float32); im = T.image.central_crop(im, .875); im = tf.expand_dims(im, 0); im = T.image.resize_bilinear(im, [16, 16], align_corners=False); return (tf.squeeze(im, [0]) - .5) * 2.
    x = T.map_fn(dec, b, dtype=tf.float32); x.set_shape([None, 16, 16, 3]); h = T.nn.depthwise_conv2d(x, get('k', [3, 3, 3, 2], initializer=U(n)), [1, 1, 1, 1], 'SAME'); y = tf.reduce_mean(h, [1, 2]); v, i = T.nn.top_k(y, 2)
    yy, xx = np.mgrid[:30, :25]; im = np.stack([(xx * 9) % 256, (yy * 7) % 256, (xx * yy) % 256], -1).astype('uint8')
    with T.Session() as s: j = s.run(T.image.encode_jpeg(im))
    build(n, {P: ({'image_bytes': b}, {'y': y, 'top': v, 'idx': i})}, {P: [{'image_bytes': S([j, j])}]})

@model('t1_gradients_and_opt_signature')
def _(n):
    x = ph([None, 3], 'x'); t = ph([None, 1], 't'); w = get('w', [3, 1], initializer=U(n)); y = tf.matmul(x, w); l = tf.reduce_mean(tf.square(y - t)); op = T.train.MomentumOptimizer(.1, .9).minimize(l)
    with T.control_dependencies([op]): l2 = tf.identity(l)
    build(n, {P: ({'x': x}, {'y': y}), 'train': ({'x': x, 't': t}, {'loss': l2}), 'grad': ({'x': x, 't': t}, {'g': T.gradients(l, w)[0]})}, {P: [{'x': N(n, 2, 3)}], 'grad': [{'x': N(n, 2, 3), 't': N(n, 2, 1)}], 'train': [{'x': N(n, 2, 3), 't': N(n, 2, 1)}]})

@model('t1_queue_shadow')
def _(n):
    """Training graph leftovers: queues, readers and summaries that serving never reaches."""
    q = T.FIFOQueue(10, [tf.float32], [[3]]); d = q.dequeue_many(2); T.train.add_queue_runner(T.train.QueueRunner(q, [q.enqueue([tf.ones([3])])])); T.summary.scalar('s', tf.reduce_sum(d)); T.summary.histogram('h', d); x = T.placeholder_with_default(tf.ones([2, 3]), [None, 3], 'x'); y = tf.matmul(x, get('w', [3, 2], initializer=U(n)), name='y'); T.summary.merge_all()
    build(n, {P: ({'x': x}, {'y': y})}, {P: [{'x': N(n, 2, 3)}]})

@model('t1_functional_cf_defun')
def _(n):
    T.enable_control_flow_v2(); x = ph([None], 'x'); k = ph([], 'k', tf.int32); y = T.while_loop(lambda i, a: i < k, lambda i, a: (i + 1, a * 1.1), [0, x])[1]; z = T.cond(k > 2, lambda: x + 1, lambda: x - 1)
    @tf.function
    def f(a): return a * 3 + tf.sin(a)
    build(n, {P: ({'x': x, 'k': k}, {'y': y, 'z': z, 'f': f(x)})}, {P: [{'x': N(n, 3), 'k': np.int32(4)}]})

@model('t1_strip_default_attrs')
def _(n):
    x = ph([None, 6, 6, 2], 'x'); y = T.nn.conv2d(x, get('k', [3, 3, 2, 3], initializer=U(n)), [1, 1, 1, 1], 'SAME', dilations=[1, 1, 1, 1]); y = T.nn.leaky_relu(y); y = T.nn.local_response_normalization(y)
    build(n, {P: ({'x': x}, {'y': y})}, {P: [{'x': N(n, 1, 6, 6, 2)}]}, strip=True)

@model('t1_sharded_saver_multi_dtype')
def _(n):
    x = ph([None, 2], 'x'); vs = [get('f32', [2, 3], initializer=U(n)), get('f64', [3], tf.float64, initializer=T.ones_initializer()), get('i32', [3], tf.int32, initializer=T.constant_initializer(7)), get('b', [3], tf.bool, initializer=T.constant_initializer(True)), get('h', [3], tf.float16, initializer=T.ones_initializer()), T.Variable(['s', 'tü'], name='strv'), T.Variable(tf.constant([1 + 2j], tf.complex64), name='cplx')]; y = tf.matmul(x, vs[0]); sv = T.train.Saver(vs, sharded=True)
    build(n, {P: ({'x': x}, {'y': y, 'd': vs[1] + 1, 'i': vs[2] * 2, 'nb': tf.logical_not(vs[3]), 'h': vs[4] * 2, 's': tf.strings.join([vs[5], '!']), 're': tf.math.real(vs[6])})}, {P: [{'x': N(n, 2, 2)}]}, saver=sv)

@model('t1_sparse_signature')
def _(n):
    sp = T.sparse_placeholder(tf.float32, [None, 4], 'sp'); y = T.sparse_tensor_dense_matmul(sp, get('w', [4, 2], initializer=U(n))); p = dirpath(n); b = T.saved_model.Builder(p); ti = T.saved_model.utils.build_tensor_info
    with T.Session() as s:
        s.run(T.global_variables_initializer()); sd = T.saved_model.signature_def_utils.build_signature_def({'sp': ti(sp)}, {'y': ti(y)}, 'tensorflow/serving/predict'); sd2 = T.saved_model.signature_def_utils.build_signature_def({'i': ti(sp.indices), 'v': ti(sp.values), 's': ti(sp.dense_shape)}, {'y': ti(y)}, 'tensorflow/serving/predict'); b.add_meta_graph_and_variables(s, ['serve'], {P: sd2, 'coo': sd})
    b.save(); golden_v1(n, p, {P: [{'i': np.array([[0, 1], [1, 3]]), 'v': np.array([2., 3.], 'f'), 's': np.array([2, 4])}]})

if __name__ == '__main__': run_all(setup)
