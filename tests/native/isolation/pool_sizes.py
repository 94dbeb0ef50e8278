"""How much memory a pool of shared arrays uses, and how much it holds."""


def bytes_used(pool):
    """Count the bytes of all arrays that are alive, rounded up for each."""
    with pool._lock:
        pool._collect()
        spared = sum(size * len(places) for size, places in pool._spare.items())
        return sum(region.used for region in pool.regions) - spared


def bytes_mapped(pool):
    """Count the bytes of all regions."""
    return sum(region.size for region in pool.regions)


def pool_of(library):
    """Return the pool from which the outputs of a library's operations come."""
    return library.ops[0].worker.pool
