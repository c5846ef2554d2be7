"""The checks of chapter 5, Many heads, and a block."""

from d2l_attention.practice.exercises import Exercise

# ---- 5.1


def contributions(outputs, W_o):
    heads = outputs.shape[1]
    blocks = W_o.reshape(len(W_o), heads, -1)  # (D, H, v)
    return outputs @ blocks.transpose(1, 2, 0)


def outputs_and_matrices(rng):
    for b, heads, n, v, D in ((2, 3, 4, 5, 7), (1, 2, 3, 4, 9), (3, 4, 1, 2, 5), (2, 1, 5, 3, 4)):
        yield rng.normal(size=(b, heads, n, v)), rng.normal(size=(D, heads * v))


adding = Exercise("5.1", contributions, outputs_and_matrices)


@adding.expects
class AddingMistakes:
    def summed_over_the_heads(outputs, W_o):
        """This is the output of the layer, the sum over the heads. Keep the axis of heads."""
        b, heads, n, v = outputs.shape
        return outputs.swapaxes(1, 2).reshape(b, n, heads * v) @ W_o.T

    def features_of_the_heads_mixed(outputs, W_o):
        """You give each head every H-th column of the matrix. After joining, the features of a head
        are neighbors: its columns are, too."""
        heads = outputs.shape[1]
        blocks = W_o.reshape(len(W_o), -1, heads)  # (D, v, H)
        return outputs @ blocks.transpose(2, 1, 0)

    def heads_in_reverse(outputs, W_o):
        """Your heads meet the columns in reverse order: the first v columns belong to head 1."""
        return contributions(outputs[:, ::-1], W_o)[:, ::-1]

    def first_block_for_all(outputs, W_o):
        """You multiply every head by the first v columns. Each head has columns of its own."""
        return outputs @ W_o[:, : outputs.shape[-1]].T

    def divided_by_the_heads(outputs, W_o):
        """You divide by the number of heads. Their sum is the output, not their mean."""
        return contributions(outputs, W_o) / outputs.shape[1]
