"""TF1-style SavedModels: only ref variables vs only resource variables, same weights. usage: gen_tf1_var.py OUTDIR"""
import os,sys; os.environ['TF_CPP_MIN_LOG_LEVEL']='3'; os.environ['CUDA_VISIBLE_DEVICES']=''
import tensorflow as tf
v1=tf.compat.v1
for kind in('ref','res'):
    with tf.Graph().as_default() as g, v1.Session(graph=g) as s:
        x=v1.placeholder(tf.float32,[None,256],name='x'); h=x
        for i in range(4): h=tf.nn.relu(h@v1.get_variable('w%d'%i,[256,256],use_resource=(kind=='res')))
        s.run(v1.global_variables_initializer()); b=v1.saved_model.Builder(sys.argv[1]+'/tf1_'+kind)
        b.add_meta_graph_and_variables(s,['serve'],{'serving_default':v1.saved_model.predict_signature_def({'x':x},{'y':h})}); b.save()
print('OK')
