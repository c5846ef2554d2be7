from d2l_attention.practice.numerics import softmax as softmax
