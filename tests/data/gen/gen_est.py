"""tf.estimator / feature_column exports (needs TF 2.15 + tensorflow-estimator 2.15)."""
from common import *
import tensorflow as tf, tempfile
tf.get_logger().setLevel('ERROR')
FC, E = tf.feature_column, tf.estimator
S = lambda v: np.array(v, dtype=object)
r = np.random.default_rng(0)
def data(): return tf.data.Dataset.from_tensor_slices(({'age': r.normal(40, 10, 40).astype('f'), 'job': r.choice([b'a', b'b', b'c'], 40), 'city': r.choice([b'berlin', 'köln'.encode(), b'x'], 40), 'zip': r.integers(0, 9, 40), 'vec': r.normal(size=(40, 3)).astype('f')}, r.integers(0, 3, 40))).batch(20)
def ex(age, job, city, zip_, vec):
    e = tf.train.Example(); f = e.features.feature; f['age'].float_list.value.append(age); f['job'].bytes_list.value.extend(job); f['city'].bytes_list.value.extend(city); f['zip'].int64_list.value.append(zip_); f['vec'].float_list.value.extend(vec); return e.SerializeToString(deterministic=True)
EX = S([ex(33., [b'a'], ['köln'.encode()], 3, [1, 2, 3]), ex(71., [], [b'x', b'berlin'], 8, [-1, 0, .5])])
def cols(emb=True):
    vf = os.path.join(tempfile.gettempdir(), 'tare_vocab', 'city.txt'); os.makedirs(os.path.dirname(vf), exist_ok=True); open(vf, 'w').write('berlin\nköln\n')
    age = FC.numeric_column('age', normalizer_fn=lambda t: (t - 40.) / 10.); b = FC.bucketized_column(FC.numeric_column('age'), [20., 40., 60.]); job = FC.categorical_column_with_vocabulary_list('job', ['a', 'b', 'c'], num_oov_buckets=1); city = FC.categorical_column_with_vocabulary_file('city', vf, num_oov_buckets=2); z = FC.categorical_column_with_identity('zip', 10, 0); h = FC.categorical_column_with_hash_bucket('city', 7); x = FC.crossed_column(['job', b], 20)
    lin = [age, b, job, city, z, x, FC.crossed_column(['city', 'job'], 11)]; dn = [age, FC.numeric_column('vec', (3,)), FC.indicator_column(job), FC.embedding_column(city, 4, combiner='sqrtn'), FC.embedding_column(z, 3), FC.indicator_column(x)]; return lin, dn
def run(n, mk, sigs):
    tmp = tempfile.mkdtemp(); lin, dn = cols(); est = mk(lin, dn, E.RunConfig(tmp, tf_random_seed=seed_of(n) % 9999)); est.train(data, steps=4); sp = FC.make_parse_example_spec(lin + dn); out = tempfile.mkdtemp(); p = est.export_saved_model(out, E.export.build_parsing_serving_input_receiver_fn(sp)).decode(); d = dirpath(n); shutil.move(p, d); shutil.rmtree(tmp); shutil.rmtree(out)
    golden_v1(n, d, {s: [{k: EX}] for s, k in sigs.items()})
C3 = {'serving_default': 'inputs', 'predict': 'examples'}
@model('est_linear_classifier')
def _(n): run(n, lambda l, d, c: E.LinearClassifier(l, n_classes=3, config=c), C3)
@model('est_dnn_classifier')
def _(n): run(n, lambda l, d, c: E.DNNClassifier([8, 4], d, n_classes=3, config=c, batch_norm=True, dropout=.1), C3)
@model('est_dnn_linear_combined')
def _(n): run(n, lambda l, d, c: E.DNNLinearCombinedClassifier(linear_feature_columns=l, dnn_feature_columns=d, dnn_hidden_units=[8], n_classes=3, label_vocabulary=None, config=c), C3)
@model('est_dnn_regressor')
def _(n): run(n, lambda l, d, c: E.DNNRegressor([8], d, config=c), {'serving_default': 'inputs', 'predict': 'examples'})
@model('est_custom_v1_layers')
def _(n):
    def fn(features, labels, mode, params):
        T = tf.compat.v1; x = T.feature_column.input_layer(features, params['d']); h = T.layers.dense(x, 8, tf.nn.relu); h = T.layers.batch_normalization(h, training=mode == 'train'); h = T.layers.dropout(h, .3, training=mode == 'train'); lg = T.layers.dense(h, 3); pr = {'prob': tf.nn.softmax(lg), 'cls': tf.argmax(lg, 1)}
        if mode == 'infer': return E.EstimatorSpec(mode, pr, export_outputs={'serving_default': E.export.PredictOutput(pr), 'cls': E.export.ClassificationOutput(scores=pr['prob'])})
        loss = T.losses.sparse_softmax_cross_entropy(labels, lg); return E.EstimatorSpec(mode, loss=loss, train_op=T.train.AdagradOptimizer(.1).minimize(loss, T.train.get_global_step()))
    run(n, lambda l, d, c: E.Estimator(fn, config=c, params={'d': d}), {'serving_default': 'examples'})
@model('est_rnn_sequence_fc')
def _(n):
    """sequence feature columns + dynamic GRU, raw (dense) receiver"""
    def fn(features, labels, mode, params):
        T = tf.compat.v1; e = T.get_variable('e', [20, 6]); x = tf.nn.embedding_lookup(e, features['tok']); cell = T.nn.rnn_cell.MultiRNNCell([T.nn.rnn_cell.BasicLSTMCell(5), T.nn.rnn_cell.GRUCell(4)]); o, s = T.nn.dynamic_rnn(cell, x, sequence_length=features['len'], dtype=tf.float32); (fw, bw), _ = T.nn.bidirectional_dynamic_rnn(T.nn.rnn_cell.LSTMCell(3, use_peepholes=True), T.nn.rnn_cell.LSTMCell(3, num_proj=2), x, features['len'], dtype=tf.float32); lg = T.layers.dense(tf.concat([s[-1], tf.reduce_max(fw, 1), tf.reduce_max(bw, 1)], 1), 3); pr = {'p': tf.nn.softmax(lg), 'o': o}
        if mode == 'infer': return E.EstimatorSpec(mode, pr, export_outputs={'serving_default': E.export.PredictOutput(pr)})
        loss = T.losses.sparse_softmax_cross_entropy(labels, lg); return E.EstimatorSpec(mode, loss=loss, train_op=T.train.AdamOptimizer().minimize(loss, T.train.get_global_step()))
    ds = lambda: tf.data.Dataset.from_tensors(({'tok': r.integers(0, 20, (4, 6)), 'len': np.array([6, 3, 2, 5])}, np.array([0, 1, 2, 0]))); tmp = tempfile.mkdtemp(); est = E.Estimator(fn, config=E.RunConfig(tmp, tf_random_seed=7)); est.train(ds, steps=2); T = tf.compat.v1
    p = est.export_saved_model(tmp + '/x', E.export.build_raw_serving_input_receiver_fn({'tok': tf.TensorSpec([None, None], tf.int64), 'len': tf.TensorSpec([None], tf.int64)}) if False else (lambda: E.export.ServingInputReceiver(*(lambda d: (d, d))({'tok': T.placeholder(tf.int64, [None, None], 'tok'), 'len': T.placeholder(tf.int64, [None], 'len')})))).decode(); d = dirpath(n); shutil.move(p, d); shutil.rmtree(tmp); golden_v1(n, d, {'serving_default': [{'tok': r.integers(0, 20, (2, 5)), 'len': np.array([5, 2])}]})
if __name__ == '__main__': run_all()
