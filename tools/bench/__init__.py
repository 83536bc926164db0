"""What bench_peers.py is made of: networks, quantized models for each peer, workers, rounds."""
