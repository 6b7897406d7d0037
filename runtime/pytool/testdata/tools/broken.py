raise RuntimeError("no luck")
