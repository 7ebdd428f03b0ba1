"""A host beside those with the same cards and role: few that differ are named, with the setting."""

from fleets import host

from wirespeed.fleet.cohorts import find_outliers

USUAL = {"port 0 mtu": "9000", "turbo": "on"}
ODD = {"port 0 mtu": "1500", "turbo": "on"}
PROFILES = {"usual": USUAL, "odd": ODD, "unread": {"turbo": "on"}}
CARD = {"card": "2 x ConnectX-5 (15b3:1017)"}


def fleet(odd: int, of: int, card: dict[str, str] = CARD) -> list:
    return [host(f"n{i:03}", traits=card, profile="odd" if i < odd else "usual") for i in range(of)]


def test_3_of_400_differ_in_one_setting():
    (found,) = find_outliers(fleet(3, 400), PROFILES)
    assert (found.hosts, found.of) == (("n000", "n001", "n002"), 400)
    (one,) = found.differences
    assert (one.setting, one.value, one.usual) == ("port 0 mtu", "1500", "9000")


def test_half_and_half_has_no_usual_value():
    assert find_outliers(fleet(20, 40), PROFILES) == ()


def test_one_of_five_is_named_and_one_of_four_is_not():
    assert len(find_outliers(fleet(1, 5), PROFILES)) == 1
    assert find_outliers(fleet(1, 4), PROFILES) == ()


def test_hosts_with_other_cards_or_another_role_are_not_compared():
    assert find_outliers(fleet(1, 4) + fleet(0, 40, {"card": "1 x ice"}), PROFILES) == ()
    storage = {**CARD, "role": "storage"}
    hosts = [host(f"s{i}", traits=storage, profile="odd") for i in range(4)]
    assert find_outliers(fleet(0, 40) + hosts, PROFILES) == ()


def test_what_could_not_be_read_is_neither_equal_nor_different():
    hosts = [*fleet(0, 40), host("blind", traits=CARD, profile="unread")]
    assert find_outliers(hosts, PROFILES) == ()
