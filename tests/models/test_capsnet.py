"""CapsNet: the parts joined as the paper says."""

import pytest
import torch

from capsedu import models
from capsedu.models import CapsNet
from tests import references


def small(**overrides: object) -> CapsNet:
    torch.manual_seed(0)
    return models.create(
        "capsnet-mnist",
        **{"image_shape": (1, 9, 9), "channels": 4, "kernel_size": 3, "primary_types": 2, "primary_dim": 3}
        | {"classes": 4, "class_dim": 5, "decoder": (6, 7), "init_scale": 1.0}
        | overrides,
    )


def pictures(batch: int = 3) -> torch.Tensor:
    return torch.rand(batch, 1, 9, 9, generator=torch.Generator().manual_seed(1))


def test_agrees_with_the_loops_from_end_to_end():
    model = small()
    with torch.no_grad():
        output = model(pictures(2))
        features = model.conv(pictures(2))
    conv, weight = model.primary.conv, model.classes.weight.detach()
    children = references.primary_capsules(features, conv.weight.detach(), conv.bias.detach(), 2, 3, 2)
    capsules, couplings = references.dynamic_routing(references.predictions(children, weight), 3)
    torch.testing.assert_close(output.capsules, capsules, atol=1e-5, rtol=0)
    torch.testing.assert_close(output.routing.couplings, couplings, atol=1e-5, rtol=0, check_stride=False)
    predicted = capsules.norm(dim=-1).argmax(dim=-1)
    redrawn = model.decoder.layers(references.masked_capsules(capsules, predicted))
    torch.testing.assert_close(output.reconstruction, redrawn, atol=1e-5, rtol=0)


def test_output_has_the_shapes_that_are_promised():
    output = small()(pictures())
    assert output.capsules.shape == (3, 4, 5)
    assert output.lengths.shape == (3, 4)
    assert output.reconstruction.shape == (3, 1, 9, 9)
    assert output.routing.couplings.shape == (3, 2 * 3 * 3, 4)


def test_scores_are_the_lengths_of_the_capsules():
    output = small()(pictures())
    assert output.scores is output.lengths
    torch.testing.assert_close(output.lengths, output.capsules.square().sum(dim=-1).sqrt())
    assert (output.lengths < 1).all()


@pytest.mark.parametrize("size", [(9, 9), (10, 10), (9, 12), (11, 8)])
def test_primary_grid_is_that_of_the_convolutions(size):
    model = small(image_shape=(1, *size), decoder=None)
    features = model.primary.conv(model.conv(torch.zeros(1, 1, *size)))
    assert features.shape[2:] == model.config.primary_grid


def test_a_picture_does_not_depend_on_its_batch():
    model = small().double().eval()
    together = model(pictures().double())
    for b in range(3):
        alone = model(pictures()[b : b + 1].double())
        torch.testing.assert_close(together.capsules[b], alone.capsules[0])
        torch.testing.assert_close(together.reconstruction[b], alone.reconstruction[0])


def test_labels_choose_what_is_redrawn_and_nothing_else():
    model, labels = small(), torch.tensor([0, 1, 2])
    told, untold = model(pictures(), labels), model(pictures())
    assert torch.equal(told.capsules, untold.capsules)
    assert torch.equal(told.reconstruction, model.decoder(told.capsules, labels))
    predicted = untold.lengths.argmax(dim=-1)
    assert torch.equal(untold.reconstruction, model.decoder(untold.capsules, predicted))


def test_trace_keeps_every_iteration_and_changes_no_number():
    model = small(iterations=4)
    traced, plain = model(pictures(), trace=True), model(pictures())
    assert len(traced.routing.trace.couplings) == 4
    assert plain.routing.trace is None
    torch.testing.assert_close(traced.capsules, plain.capsules, atol=1e-6, rtol=0)
    torch.testing.assert_close(traced.reconstruction, plain.reconstruction, atol=1e-6, rtol=0)


def test_without_decoder_nothing_is_redrawn():
    model = small(decoder=None)
    assert model.decoder is None
    assert model(pictures()).reconstruction is None


@pytest.mark.parametrize(
    "overrides", [{"iterations": 1}, {"iterations": 5}, {"gradient": "last"}, {"leaky": True}], ids=str
)
def test_routing_options_reach_the_class_capsules(overrides):
    layer = small(**overrides).classes
    assert {name: getattr(layer, name) for name in overrides} == overrides


def test_wrong_number_of_labels_is_told():
    with pytest.raises(ValueError, match=r"got \(3, 4, 5\) and \(2,\)"):
        small()(pictures(), torch.tensor([0, 1]))


def test_memory_layout_changes_no_number():
    model = small()
    expected = model(pictures()).capsules
    plain = model.to(memory_format=torch.contiguous_format)
    torch.testing.assert_close(plain(pictures()).capsules, expected, atol=1e-6, rtol=0)


def test_every_weight_has_a_gradient_from_the_two_losses():
    model = small()
    output = model(pictures(), torch.tensor([0, 1, 2]))
    (output.lengths.square().sum() + output.reconstruction.square().sum()).backward()
    assert [name for name, parameter in model.named_parameters() if not parameter.grad.abs().max() > 0] == []
