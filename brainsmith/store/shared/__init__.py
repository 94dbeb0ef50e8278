"""The part of the cache that several machines share: a Redis server, or any place that fsspec reaches.

    shared_cache.py  what callers see: get and put, once asked and never waited for
    envelope.py      an entry as it lies there: its kind, key, size and digest, and its content
    packed_folder.py folders as one content, files with safe names and nothing else
    deadline.py      how long a server may take
    redis_server.py  Redis, spoken to directly: its package takes longer to import than a discovery takes
    file_system.py   what fsspec reaches: a folder, S3 and others

A digest shows damage, and not who wrote an entry. So nothing that comes from here is ever run, and whoever uses an entry
checks that it is what its kind may hold.
"""
