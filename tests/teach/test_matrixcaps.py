"""The exercises on the matrix capsule network accept the solutions and refuse the field's mistakes."""

import torch

from capsedu import teach


def failures(printed: str) -> list[str]:
    return [line.split("fails  ")[1].split(": ")[0] for line in printed.splitlines() if "fails  " in line]


def count(kernel, in_types, types, pose, size=16, betas=2):
    matrix = size if pose == "matrix" else size * size
    return kernel**2 * in_types * types * matrix + betas * types


def test_counting_accepts_the_solution():
    assert teach.check("convcaps-parameters", count)


def test_counting_finds_missing_betas(capsys):
    assert not teach.check("convcaps-parameters", lambda *sizes: count(*sizes, betas=0))
    assert len(failures(capsys.readouterr().out)) == 4


def test_counting_finds_that_vectors_need_larger_matrices(capsys):
    assert not teach.check("convcaps-parameters", lambda k, i, j, pose: count(k, i, j, "matrix"))
    assert failures(capsys.readouterr().out) == ["vector poses"]


def rows(row, rows, kernel, stride, step=None, out=None):
    step = step or stride
    out = out or (rows - kernel) // stride + 1
    return [parent for parent in range(out) if 0 <= row - parent * step < kernel]


def test_rows_accept_the_solution():
    assert teach.check("parents-of-a-row", rows)


def test_rows_find_a_forgotten_stride(capsys):
    assert not teach.check("parents-of-a-row", lambda *sizes: rows(*sizes, step=1))
    found = failures(capsys.readouterr().out)
    assert "stride 1" not in found
    assert "stride 2" in found


def test_rows_find_parents_that_do_not_exist(capsys):
    assert not teach.check("parents-of-a-row", lambda row, n, k, s: rows(row, n, k, s, out=n))
    assert "there is no parent in row 4, only rows 0 to 3" in capsys.readouterr().out


def share(scores, children):
    shares = torch.empty_like(scores)
    for child in children.unique():
        mine = children == child
        shares[mine] = scores[mine].flatten().softmax(dim=0).view(-1, scores.shape[-1])
    return shares


def test_sharing_accepts_the_solution():
    assert teach.check("share-out", share)


def test_sharing_finds_competition_among_types_only(capsys):
    assert not teach.check("share-out", lambda scores, children: scores.softmax(dim=-1))
    printed = capsys.readouterr().out
    assert failures(printed) == [
        "the shares of every child sum to 1 over all its parents",
        "a parent that fits better takes from parents at other positions",
    ]
    assert "a child that 2 parent positions see gives 2.00" in printed


def test_sharing_finds_shares_divided_by_the_number_of_positions(capsys):
    def divided(scores, children):
        seen = children.flatten().bincount()[children]
        return scores.softmax(dim=-1) / seen[..., None]

    assert not teach.check("share-out", divided)
    assert failures(capsys.readouterr().out) == [
        "a parent that fits better takes from parents at other positions"
    ]


def test_sharing_finds_an_overflow(capsys):
    def plain(scores, children):
        weights = scores.exp()
        total = torch.zeros(4).index_add(0, children.flatten(), weights.sum(dim=-1).flatten())
        return weights / total[children][..., None]

    assert not teach.check("share-out", plain)
    assert failures(capsys.readouterr().out) == ["log-scores of some thousands, up or down, do no harm"]
