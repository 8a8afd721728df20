"""Makes keys and certificates. Each cluster has one authority, which signs for servers and clients."""

import base64
import json
import subprocess

from testing.processes import Failed

_EC = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-sha256", "-days", "30"]


class Certificates:
    """Keeps files NAME.crt and NAME.key in one directory. They are ECDSA: one RSA key takes longer than all of
    these."""

    def __init__(self, directory, openssl):
        self.directory = directory
        self._openssl = openssl
        directory.mkdir()
        self._finish([self._begin("ca", "/CN=crossover-test-cluster", "keyUsage=critical,keyCertSign")])
        self._run(["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", str(self.key("tokens"))])

    def crt(self, name):
        return self.directory / f"{name}.crt"

    def key(self, name):
        return self.directory / f"{name}.key"

    @property
    def authority(self):
        return self.crt("ca")

    def authority_text(self):
        """Returns the authority as Kubernetes objects carry it, for example in `caBundle`."""
        return base64.b64encode(self.authority.read_bytes()).decode()

    def issue(self, servers, clients):
        """Issues all certificates at once. `servers` is {name: names and addresses it is reached by}; `clients` is
        {name: subject}."""
        begun = [self._begin(name, f"/CN={name}", _server(hosts), signed=True) for name, hosts in servers.items()]
        begun += [self._begin(name, subject, "extendedKeyUsage=clientAuth", signed=True)
                  for name, subject in clients.items()]
        self._finish(begun)

    def serving(self, name, hosts):
        """Issues a certificate for a server of a test, such as a webhook. Returns the paths of certificate and key."""
        self.issue({name: hosts}, {})
        return self.crt(name), self.key(name)

    def kubeconfig(self, user, server):
        """Writes a kubeconfig by which a client such as kubectl acts as `user`, and returns its path."""
        return self._kubeconfig(user, server, {"client-certificate": str(self.crt(user)),
                                               "client-key": str(self.key(user))})

    def kubeconfig_of_token(self, user, server, token):
        """Writes a kubeconfig by which a client acts as the account that the token is of, and returns its path."""
        return self._kubeconfig(user, server, {"token": token})

    def _kubeconfig(self, user, server, credentials):
        path = self.directory / f"{user}.kubeconfig"
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "cluster",
            "clusters": [{"name": "cluster", "cluster": {"server": server,
                                                         "certificate-authority": str(self.authority)}}],
            "users": [{"name": user, "user": credentials}],
            "contexts": [{"name": "cluster", "context": {"cluster": "cluster", "user": user}}]}), encoding="utf-8")
        return path

    def _begin(self, name, subject, extension, signed=False):
        command = [self._openssl, "req", "-x509", *_EC, "-subj", subject, "-addext", extension,
                   "-keyout", str(self.key(name)), "-out", str(self.crt(name))]
        if signed:
            command += ["-CA", str(self.authority), "-CAkey", str(self.key("ca")),
                        "-addext", "basicConstraints=critical,CA:FALSE"]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def _run(self, words):
        self._finish([subprocess.Popen([self._openssl, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)])

    def _finish(self, begun):
        for process in begun:
            output, _ = process.communicate()
            if process.returncode != 0:
                raise Failed(f"openssl: {output.decode(errors='replace').strip()[-300:]}")


def _server(hosts):
    names = [f"{'IP' if ':' in host or host.replace('.', '').isdigit() else 'DNS'}:{host}" for host in hosts]
    return f"extendedKeyUsage=serverAuth\nsubjectAltName={','.join(names)}"
