"""Builds every SavedModel/Keras test model for the reproduction set. usage: gen_cycle.py OUTDIR [NAME ...]"""
import os, sys, time, traceback
os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL','2'); os.environ['CUDA_VISIBLE_DEVICES']=''
import numpy as np, tensorflow as tf, keras
sys.setrecursionlimit(20000)
tf.random.set_seed(7); np.random.seed(7); keras.utils.set_random_seed(7)
OUT=sys.argv[1]; os.makedirs(OUT,exist_ok=True)
ONLY=set(sys.argv[2:])
REG={}
def reg(f): REG[f.__name__]=f; return f
P=lambda n: os.path.join(OUT,n)
F=tf.float32; S=tf.string; I=tf.int64
WORDS=lambda n:[('w%d'%i) for i in range(n)]

def table_module(kind,n):
    class M(tf.Module):
        def __init__(s):
            super().__init__()
            if kind=='tensor_str': init=tf.lookup.KeyValueTensorInitializer(tf.constant(WORDS(n)),tf.range(n,dtype=I)); s.t=tf.lookup.StaticHashTable(init,-1); s.kd=S
            if kind=='tensor_int': init=tf.lookup.KeyValueTensorInitializer(tf.range(n,dtype=I)*7919,tf.range(n,dtype=I)); s.t=tf.lookup.StaticHashTable(init,-1); s.kd=I
            if kind=='file_str':
                fn=os.path.abspath(P('_vocab_%d.txt'%n)); open(fn,'w').write('\n'.join(WORDS(n))+'\n')
                init=tf.lookup.TextFileInitializer(fn,S,tf.lookup.TextFileIndex.WHOLE_LINE,I,tf.lookup.TextFileIndex.LINE_NUMBER); s.t=tf.lookup.StaticHashTable(init,-1); s.kd=S
            if kind=='vocab_bucket':
                init=tf.lookup.KeyValueTensorInitializer(tf.constant(WORDS(n)),tf.range(n,dtype=I)); s.t=tf.lookup.StaticVocabularyTable(init,10); s.kd=S
            if kind=='mutable':
                s.t=tf.lookup.experimental.MutableHashTable(S,I,-1); s.t.insert(tf.constant(WORDS(n)),tf.range(n,dtype=I)); s.kd=S
            if kind=='dense':
                s.t=tf.lookup.experimental.DenseHashTable(I,I,-1,empty_key=-1,deleted_key=-2,initial_num_buckets=1<<15); s.t.insert(tf.range(n,dtype=I)*7919,tf.range(n,dtype=I)); s.kd=I
            s.f=tf.function(s.f_,input_signature=[tf.TensorSpec([None],s.kd,name='x')])
        def f_(s,x): return {'id':s.t.lookup(x)}
    m=M(); return m,{'serving_default':m.f}
for _k,_n in [('tensor_str',15000),('tensor_int',15000),('file_str',15000),('vocab_bucket',5000),('mutable',15000),('dense',15000)]:
    def _b(k=_k,n=_n):
        m,s=table_module(k,n); tf.saved_model.save(m,P('table_'+k),signatures=s)
    REG['table_'+_k]=_b

@reg
def many_signatures():
    class M(tf.Module):
        def __init__(s):
            super().__init__(); s.w=tf.Variable(tf.random.normal([8,8])); s.fs=[]
            for i in range(64):
                def f(x,i=i): return {'y':tf.nn.relu(x@s.w+float(i))}
                s.fs.append(tf.function(f,input_signature=[tf.TensorSpec([None,8],F,name='x')]))
    m=M(); sigs={('sig_%02d'%i):f for i,f in enumerate(m.fs)}; sigs['serving_default']=m.fs[0]
    tf.saved_model.save(m,P('many_signatures'),signatures=sigs)
@reg
def many_variables():
    class M(tf.Module):
        def __init__(s):
            super().__init__(); s.w=[tf.Variable(tf.random.normal([16,16]),name='v%d'%i) for i in range(300)]
        @tf.function(input_signature=[tf.TensorSpec([None,16],F,name='x')])
        def f(self,x):
            s=self
            for w in s.w: x=tf.tanh(x@w)
            return {'y':x}
    m=M(); tf.saved_model.save(m,P('many_variables'),signatures={'serving_default':m.f})
@reg
def big_const():   # weights frozen in the graph: #40171 comment ("weights embedded in their graphs can leak hundreds of MB")
    C=np.random.randn(1024,1024).astype('f')
    class M(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None,1024],F,name='x')])
        def f(self,x):
            s=self
            return {'y':x@tf.constant(C)}
    m=M(); tf.saved_model.save(m,P('big_const'),signatures={'serving_default':m.f})
@reg
def ragged_strings():
    class M(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None],S,name='x')])
        def f(self,x):
            s=self
            t=tf.strings.split(tf.strings.lower(tf.strings.regex_replace(x,r'[^a-zA-Z0-9 ]','')))
            h=tf.strings.to_hash_bucket_fast(t.flat_values,1000); r=t.with_flat_values(h)
            return {'ids':r.to_tensor(default_value=-1),'len':r.row_lengths(),'joined':tf.strings.reduce_join(t.to_tensor(),axis=1,separator='|')}
    m=M(); tf.saved_model.save(m,P('ragged_strings'),signatures={'serving_default':m.f})
@reg
def ragged_sig():  # composite tensors in the saved function signature
    class M(tf.Module):
        def __init__(s): super().__init__(); s.w=tf.Variable(tf.random.normal([100,4]))
        @tf.function(input_signature=[tf.RaggedTensorSpec([None,None],I)])
        def f(self,r):
            s=self
            return tf.reduce_mean(tf.ragged.map_flat_values(lambda v:tf.gather(s.w,v),r),axis=1)
        @tf.function(input_signature=[tf.TensorSpec([None],I,name='x')])
        def g(self,x):
            s=self
            return {'y':s.f(tf.RaggedTensor.from_row_lengths(x%100,[tf.size(x)]))}
    m=M(); tf.saved_model.save(m,P('ragged_sig'),signatures={'serving_default':m.g})
@reg
def while_loop():
    class M(tf.Module):
        def __init__(s): super().__init__(); s.w=tf.Variable(tf.random.normal([8,8])*.1)
        @tf.function(input_signature=[tf.TensorSpec([None,8],F,name='x')])
        def f(self,x):
            s=self
            ta=tf.TensorArray(F,size=0,dynamic_size=True); i=tf.constant(0)
            while i<20:
                x=tf.tanh(x@s.w)
                if tf.reduce_sum(x)>1e3: x=x*0.5
                else: x=x+0.1
                ta=ta.write(i,x); i+=1
            return {'y':ta.stack()}
    m=M(); tf.saved_model.save(m,P('while_loop'),signatures={'serving_default':m.f})
@reg
def nested_functions():  # many library functions
    class M(tf.Module):
        def __init__(s):
            super().__init__(); s.w=tf.Variable(1.5); fs=[]
            for d in range(40):
                prev=fs[-1] if fs else None
                def f(x,prev=prev,d=d): return (prev(x) if prev is not None else x)*s.w+float(d)
                fs.append(tf.function(f,input_signature=[tf.TensorSpec([None],F,name='x')]))
            s.fs=fs
    m=M(); tf.saved_model.save(m,P('nested_functions'),signatures={'serving_default':m.fs[-1]})
@reg
def rng_state():
    class M(tf.Module):
        def __init__(s): super().__init__(); s.g=tf.random.Generator.from_seed(3)
        @tf.function(input_signature=[tf.TensorSpec([None],F,name='x')])
        def f(self,x):
            s=self
            return {'y':x+s.g.normal(tf.shape(x))}
    m=M(); tf.saved_model.save(m,P('rng_state'),signatures={'serving_default':m.f})
@reg
def many_assets():
    class M(tf.Module):
        def __init__(s):
            super().__init__(); s.ts=[]
            for i in range(20):
                fn=os.path.abspath(P('_va_%d.txt'%i)); open(fn,'w').write('\n'.join('k%d_%d'%(i,j) for j in range(200))+'\n')
                s.ts.append(tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(fn,S,tf.lookup.TextFileIndex.WHOLE_LINE,I,tf.lookup.TextFileIndex.LINE_NUMBER),-1))
        @tf.function(input_signature=[tf.TensorSpec([None],S,name='x')])
        def f(self,x):
            s=self
            return {'y':tf.add_n([t.lookup(x) for t in s.ts])}
    m=M(); tf.saved_model.save(m,P('many_assets'),signatures={'serving_default':m.f})
@reg
def large_vars():  # 32 MiB of weights: load time + give back of big blocks
    class M(tf.Module):
        def __init__(s): super().__init__(); s.w=[tf.Variable(tf.random.normal([1024,1024])) for _ in range(8)]
        @tf.function(input_signature=[tf.TensorSpec([None,1024],F,name='x')])
        def f(self,x):
            s=self
            for w in s.w: x=tf.nn.relu(x@w)
            return {'y':x}
    m=M(); tf.saved_model.save(m,P('large_vars'),signatures={'serving_default':m.f})
@reg
def multi_version():
    for v in (1,2,3):
        class M(tf.Module):
            def __init__(s): super().__init__(); s.w=tf.Variable(tf.fill([256,256],float(v)))
            @tf.function(input_signature=[tf.TensorSpec([None,256],F,name='x')])
            def f(self,x):
                s=self
                return {'y':x@s.w,'version':tf.constant(v)}
        m=M(); tf.saved_model.save(m,P('multi_version/%d'%v),signatures={'serving_default':m.f})
@reg
def tf1_style():
    g=tf.Graph()
    with g.as_default(), tf.compat.v1.Session(graph=g) as s:
        x=tf.compat.v1.placeholder(S,[None],name='x'); 
        fn=os.path.abspath(P('_vocab_tf1.txt')); open(fn,'w').write('\n'.join(WORDS(5000))+'\n')
        tf.compat.v1.add_to_collection(tf.compat.v1.GraphKeys.ASSET_FILEPATHS,tf.constant(fn))
        asset=tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.ASSET_FILEPATHS)[0]
        t=tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(asset,S,tf.lookup.TextFileIndex.WHOLE_LINE,I,tf.lookup.TextFileIndex.LINE_NUMBER),0)
        tf.compat.v1.add_to_collection(tf.compat.v1.GraphKeys.TABLE_INITIALIZERS,t._initialize() if hasattr(t,'_initialize') else t.initializer)
        emb=tf.compat.v1.get_variable('emb',[5000,32],use_resource=False); w=tf.compat.v1.get_variable('w',[32,4],use_resource=True)
        y=tf.nn.softmax(tf.gather(emb,t.lookup(x))@w,name='y')
        s.run([tf.compat.v1.global_variables_initializer(),tf.compat.v1.tables_initializer()])
        b=tf.compat.v1.saved_model.Builder(P('tf1_style'))
        sig=tf.compat.v1.saved_model.predict_signature_def({'x':x},{'y':y})
        b.add_meta_graph_and_variables(s,['serve'],{'serving_default':sig},assets_collection=tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.ASSET_FILEPATHS),main_op=tf.compat.v1.tables_initializer()); b.save()
@reg
def tf1_dense():
    g=tf.Graph()
    with g.as_default(), tf.compat.v1.Session(graph=g) as s:
        x=tf.compat.v1.placeholder(F,[None,256],name='x'); h=x
        for i in range(4):
            w=tf.compat.v1.get_variable('w%d'%i,[256,256],use_resource=bool(i%2)); h=tf.nn.relu(h@w)
        s.run(tf.compat.v1.global_variables_initializer())
        b=tf.compat.v1.saved_model.Builder(P('tf1_dense'))
        b.add_meta_graph_and_variables(s,['serve'],{'serving_default':tf.compat.v1.saved_model.predict_signature_def({'x':x},{'y':h})}); b.save()
@reg
def keras_dense():
    k=keras.Sequential([keras.layers.Input((32,))]+[keras.layers.Dense(64,activation='relu') for _ in range(6)]+[keras.layers.Dense(4)]); k.compile('adam','mse')
    k.save(P('keras_dense.keras')); k.save(P('keras_dense.h5')); k.export(P('keras_dense_sm'),verbose=False)
@reg
def keras_lstm():
    k=keras.Sequential([keras.layers.Input((12,),dtype='int32'),keras.layers.Embedding(500,16),keras.layers.LSTM(24,return_sequences=True),keras.layers.GRU(16),keras.layers.Dense(3)])
    k.save(P('keras_lstm.keras')); k.export(P('keras_lstm_sm'),verbose=False)
@reg
def keras_lookup():
    inp=keras.Input((1,),dtype='string'); h=keras.layers.StringLookup(vocabulary=WORDS(15000))(inp); h=keras.layers.Embedding(15001,8)(h); o=keras.layers.Dense(2)(keras.layers.Flatten()(h))
    k=keras.Model(inp,o); k.save(P('keras_lookup.keras')); k.export(P('keras_lookup_sm'),verbose=False)
@reg
def tf_keras_models():
    import tf_keras as tk
    k=tk.Sequential([tk.layers.Input((32,))]+[tk.layers.Dense(64,activation='relu') for _ in range(6)]+[tk.layers.Dense(4)]); k.compile('adam','mse')
    k.save(P('tfk_dense')); k.save(P('tfk_dense.h5'))
    inp=tk.Input((1,),dtype='string'); o=tk.layers.Dense(2)(tk.layers.Flatten()(tk.layers.Embedding(15001,8)(tk.layers.StringLookup(vocabulary=WORDS(15000))(inp))))
    tk.Model(inp,o).save(P('tfk_lookup'))
@reg
def empty_and_odd():
    class M(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None,0],F,name='x')])
        def f(self,x):
            s=self
            return {'y':tf.reduce_sum(x,axis=1)}
    m=M(); tf.saved_model.save(m,P('zero_size'),signatures={'serving_default':m.f})
for n,f in REG.items():
    if ONLY and n not in ONLY: continue
    t=time.time()
    try: f(); print('OK',n,'%.1fs'%(time.time()-t),flush=True)
    except Exception as e: print('FAIL',n,repr(e)[:300],flush=True); traceback.print_exc(limit=3)
