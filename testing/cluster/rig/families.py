"""Names the addresses of a cluster, in IPv4 and in IPv6.

    IPv4           IPv6
    10.77.0.1      fd77::1        the control plane, on the bridge br0
    10.77.0.1N     fd77::1N       node N, on its eth0
    10.78.N.0/24   fd78:N::/64    pods of node N
    10.79.0.0/24   fd79::/112     services; the first address is the API server

The control plane has an address of IPv4 in every cluster, because the tests ask it there. Nodes and pods have only
addresses of the cluster's families.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """A Family is one family of IP addresses. `hosts` is the length of the prefix of the control plane's network."""
    control_plane: str
    hosts: int
    pods: str
    services: str
    api_service: str
    everywhere: str
    _node: str
    _pods_of: str
    forwarding: str  # the setting of the kernel by which a node routes to its pods

    def node(self, number):
        return self._node.format(10 + number)

    def pods_of(self, number):
        return self._pods_of.format(number)

    def server(self):
        """Returns the API server's URL."""
        host = self.control_plane
        return f"https://[{host}]:443" if ":" in host else f"https://{host}:443"


IPV4 = Family("10.77.0.1", 24, "10.78.0.0/16", "10.79.0.0/24", "10.79.0.1", "0.0.0.0/0", "10.77.0.{}", "10.78.{}.0/24",
              "net/ipv4/ip_forward")
IPV6 = Family("fd77::1", 64, "fd78::/16", "fd79::/112", "fd79::1", "::/0", "fd77::{}", "fd78:{}::/64",
              "net/ipv6/conf/all/forwarding")
EVERY_FAMILY = (IPV4, IPV6)
