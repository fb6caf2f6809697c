#!/usr/bin/env python3
"""Makes the models that the benches compare on, with TensorFlow and random weights.

    python bench/make_models.py DIR [NAME...]      # without names: toy and textcls

toy: two dense layers; textcls: a text classifier with a vocabulary of 15,000 words; mnv2, effb0, rn50, incv3:
keras.applications; bertm: an encoder of 4 layers of 256 at 128 tokens; bertb: 12 of 768; lstm: LSTM(128) over 100
tokens.
"""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers


def toy():
    return keras.Sequential([keras.Input((4,), name="x"), layers.Dense(8, activation="relu"), layers.Dense(3)])


def textcls():
    words = [f"w{i}" for i in range(15000)]
    vectorize = layers.TextVectorization(output_sequence_length=32, vocabulary=words)
    x = keras.Input((), dtype=tf.string, name="x")
    e = layers.Embedding(15002, 32)(vectorize(x))
    return keras.Model(x, layers.Dense(3, activation="softmax")(layers.GlobalAveragePooling1D()(e)))


def application(name):
    return getattr(keras.applications, name)(weights=None)


def encoder(depth, width, heads, tokens=128):
    ids = keras.Input((tokens,), dtype="int32", name="ids")
    x = layers.Embedding(30522, width)(ids)
    for _ in range(depth):
        attended = layers.MultiHeadAttention(heads, width // heads)(x, x)
        x = layers.LayerNormalization()(x + attended)
        inner = layers.Dense(width)(layers.Dense(4 * width, activation="gelu")(x))
        x = layers.LayerNormalization()(x + inner)
    return keras.Model(ids, layers.Dense(2)(layers.Dense(width, activation="tanh")(x[:, 0])))


def lstm():
    ids = keras.Input((100,), dtype="int32", name="ids")
    x = layers.LSTM(128, use_cudnn=False)(layers.Embedding(20000, 128)(ids))
    return keras.Model(ids, layers.Dense(1, activation="sigmoid")(x))


def shift_batch_norms(model):
    """Statistics as after training, so that nothing folds away to nothing."""
    random = np.random.default_rng(7)
    for layer in model.layers:
        if isinstance(layer, layers.BatchNormalization):
            for variable in layer.weights:
                centre = 1 if variable.name in ("gamma", "moving_variance") else 0
                variable.assign(centre + random.uniform(-0.2, 0.2, variable.shape))


MODELS = {"toy": toy, "textcls": textcls, "mnv2": lambda: application("MobileNetV2"),
          "effb0": lambda: application("EfficientNetB0"), "rn50": lambda: application("ResNet50"),
          "incv3": lambda: application("InceptionV3"), "bertm": lambda: encoder(4, 256, 4),
          "bertb": lambda: encoder(12, 768, 12), "lstm": lstm}

for name in sys.argv[2:] or ["toy", "textcls"]:
    keras.utils.set_random_seed(7)
    model = MODELS[name]()
    shift_batch_norms(model)
    model.export(os.path.join(sys.argv[1], name), verbose=False)
