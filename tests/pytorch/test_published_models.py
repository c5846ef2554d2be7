"""GPT-2 of the `transformers` library, small and random, with the book's layers in it.

The book does not need that library: `weekly.yml` installs it, and without it nothing is tested.
"""

import pytest
import torch

from d2l_attention.torch import MultiHeadAttention
from tests.this_book import BOOK, chapters

transformers = pytest.importorskip("transformers")
SIZES = {"vocab_size": 50, "num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 32}


def of_the_chapter(name, **names):
    """Return a function of chapter 12, run in its cell alone."""
    chapter = next(c for c in chapters(BOOK.editions[0]) if c.name == "12_many_heads")
    (cell,) = (c.source for c in chapter.notebook.cells if f"def {name}(" in c.source)
    exec(cell, names)
    return names[name]


def drawn(model):
    """Return the model with all parameters moved, so that a forgotten bias shows."""
    torch.manual_seed(0)
    with torch.no_grad():
        for p in model.double().eval().parameters():
            p.add_(0.1 * torch.randn_like(p))
    return model


@pytest.fixture
def double():
    torch.set_default_dtype(torch.float64)  # as in the chapter
    yield
    torch.set_default_dtype(torch.float32)


@torch.no_grad()
def test_the_layer_with_the_weights_of_gpt2_gives_its_logits(double):
    from_gpt2 = of_the_chapter("from_gpt2", torch=torch, MultiHeadAttention=MultiHeadAttention)
    real = drawn(transformers.GPT2LMHeadModel(transformers.GPT2Config(**SIZES)))
    tokens = torch.randint(50, (1, 20))
    x = real.transformer.wte(tokens) + real.transformer.wpe.weight[:20]
    for block in real.transformer.h:
        h = block.ln_1(x)
        x = x + from_gpt2(block.attn.state_dict(), 4)(h, h, h, causal=True)
        x = x + block.mlp(block.ln_2(x))
    torch.testing.assert_close(real.lm_head(real.transformer.ln_f(x)), real(tokens).logits)
