"""tf.keras.backend: clear_session frees nothing here, since nothing stays."""


def clear_session(free_memory=True):
    """Does nothing: Tare has no global graph or session."""
