"""Functions that the tests name in case files."""


def push(t):
    return 2.0 * t


def hold(t, y):
    return -10.0 * y


def drag(t, motion):
    return -motion.velocity, 0.0 * motion.velocity


class Family:
    @staticmethod
    def law(t, y):
        return y
