#!/usr/bin/env python3
"""Makes the models that bench/cycle.py compares on, with TensorFlow: toy (two dense layers) and textcls
(a text classifier with a vocabulary of 15,000 words).

    python bench/make_models.py DIR
"""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import tensorflow as tf


def toy():
    return keras.Sequential([keras.Input((4,), name="x"), keras.layers.Dense(8, activation="relu"),
                             keras.layers.Dense(3)])


def textcls():
    words = [f"w{i}" for i in range(15000)]
    vectorize = keras.layers.TextVectorization(output_sequence_length=32, vocabulary=words)
    x = keras.Input((), dtype=tf.string, name="x")
    e = keras.layers.Embedding(15002, 32)(vectorize(x))
    return keras.Model(x, keras.layers.Dense(3, activation="softmax")(keras.layers.GlobalAveragePooling1D()(e)))


keras.utils.set_random_seed(7)
for name, make in (("toy", toy), ("textcls", textcls)):
    make().export(os.path.join(sys.argv[1], name), verbose=False)
