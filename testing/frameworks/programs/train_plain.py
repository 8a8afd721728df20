"""Trains a line through points in plain Python, as a stand-in for a framework where none is installed."""

import paced


def main():
    points = [(i / 50, 3 * i / 50 + 1 + (i * 37 % 11 - 5) / 100) for i in range(50)]
    slope = offset = 0.0
    for _ in paced.steps(1000):
        slopes = offsets = 0.0
        for x, y in points:
            error = slope * x + offset - y
            slopes += error * x
            offsets += error
        slope -= 0.1 * slopes / len(points)
        offset -= 0.1 * offsets / len(points)
    print(slope.hex(), offset.hex())


if __name__ == "__main__":
    main()
