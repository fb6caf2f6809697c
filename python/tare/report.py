"""Who holds how many bytes: tare.memory() and tare.kernel_cache()."""
from . import _tare

_POOLED, _KERNELS = "pooled", "kernels"


class Memory:
    """Bytes now: `active` in use, `cached` kept for reuse, `total` both, `peak` the most at once (the sum of the
    accounts' peaks). `models` and `kinds` split the total; `context` is what no model owns."""

    def __init__(self, accounts):
        context, *models = accounts
        self.context = context
        self.models = {}
        for account in models:
            name, n = account["name"], 2
            while name in self.models:
                name, n = f"{account['name']} #{n}", n + 1
            self.models[name] = account
        self.kinds = {}
        for account in accounts:
            for kind, size in account["kinds"].items():
                self.kinds[kind] = self.kinds.get(kind, 0) + size
        self.total = sum(a["total"] for a in accounts)
        self.peak = sum(a["peak"] for a in accounts)
        self.cached = self.kinds.get(_POOLED, 0) + self.kinds.get(_KERNELS, 0)
        self.active = self.total - self.cached

    def dict(self):
        return dict(vars(self))

    def __repr__(self):
        return f"<tare.Memory active={self.active} cached={self.cached} peak={self.peak}>"

    def __str__(self):
        lines = [f"{'bytes':>14}  held by", f"{self.context['total']:>14,}  the context"]
        for name, account in self.models.items():
            lines.append(f"{account['total']:>14,}  {name}")
            lines += [f"{size:>14,}    {kind}" for kind, size in account["kinds"].items()]
        return "\n".join(lines)


def memory():
    """A Memory: bytes held now, by model and by kind."""
    return Memory(_tare.memory_figures())


class KernelCache:
    """The kernel cache of eager ops. Models' kernels are their plans' and not in it."""

    def stats(self):
        """entries, bytes, hits, misses, inserts, evictions, refused."""
        return _tare.kernel_cache_stats()

    def report(self):
        """By op, a list of dicts: entries, bytes, hits, never_hit, varying_attribute, warning ..."""
        return _tare.kernel_cache_report()

    @property
    def limit(self):
        """(entries, bytes). Setting it evicts down to it."""
        return _tare.kernel_cache_limit()

    @limit.setter
    def limit(self, value):
        entries, size = value if isinstance(value, tuple) else (value, self.limit[1])
        _tare.set_kernel_cache_limit(entries, size)

    @property
    def policy(self):
        """'lru' (the default), 'lru:N[,BYTES]' or 'unbounded' (as TensorFlow; both keep makers of handles)."""
        return _tare.kernel_cache_policy()

    @policy.setter
    def policy(self, text):
        _tare.set_kernel_cache_policy(text)

    def clear(self):
        _tare.clear_kernel_cache()

    def __repr__(self):
        s = self.stats()
        return f"<tare.KernelCache {self.policy}: {s['entries']} entries, {s['bytes']} bytes, {s['hits']} hits>"


_CACHE = KernelCache()


def kernel_cache():
    """The KernelCache."""
    return _CACHE
