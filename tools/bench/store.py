"""Built models, kept between runs under the hash of everything they are made from."""

import functools
import hashlib
import json
import os
import pathlib


@functools.lru_cache(maxsize=None)
def digest(path):
    """Of a file's bytes."""
    with open(path, 'rb') as file:
        return hashlib.file_digest(file, 'sha256').hexdigest()


class Store:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.root.mkdir(parents=True, exist_ok=True)

    def file(self, name, inputs, options, make):
        """The path of NAME, its stem followed by a key; make(path) writes it when it is not there.

        inputs: paths of the files it is made from. options: whatever else decides its bytes, as JSON.
        """
        text = json.dumps([[digest(str(p)) for p in inputs], options], sort_keys=True)
        key = hashlib.sha256(text.encode()).hexdigest()[:12]
        stem, suffix = name.split('.', 1)
        path = self.root / f'{stem}-{key}.{suffix}'
        if not path.exists():
            partial = self.root / f'{stem}-{key}.{os.getpid()}.partial.{suffix}'
            try:
                make(partial)
                partial.rename(path)
            finally:
                partial.unlink(missing_ok=True)
        return path
