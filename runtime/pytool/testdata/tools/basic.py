"""Functions of the tests."""


def parse_diff(raw, n):
    return {"lines": raw.count("\n"), "n": n + 1}


def boom(text="no"):
    print("about to fail")
    raise ValueError(text)
