"""Returns services and webhooks of a test, whose server runs beside the control plane."""


def service(name, namespace, address, port):
    """Returns a service with one address, as an EndpointSlice and as Endpoints. API servers of 1.31 read Endpoints;
    those of 1.36 read EndpointSlices."""
    metadata = {"name": name, "namespace": namespace, "labels": {"kubernetes.io/service-name": name}}
    return [{"apiVersion": "v1", "kind": "Service", "metadata": metadata,
             "spec": {"ports": [{"name": "https", "port": 443, "targetPort": port}]}},
            {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": metadata, "addressType": "IPv4",
             "ports": [{"name": "https", "port": port, "protocol": "TCP"}],
             "endpoints": [{"addresses": [address], "conditions": {"ready": True}}]},
            {"apiVersion": "v1", "kind": "Endpoints",
             "metadata": {"name": name, "namespace": namespace,
                          "labels": {"endpointslice.kubernetes.io/skip-mirror": "true"}},
             "subsets": [{"addresses": [{"ip": address}], "ports": [{"name": "https", "port": port}]}]}]


def mutating_webhook(name, namespace, authority, path="/mutate"):
    """Returns a webhook that sends the namespace's pods to the service of that name. `authority` is its CA certificate
    in base64."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [{
            "name": f"{name}.crossover.test", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": {"service": {"name": name, "namespace": namespace, "path": path}, "caBundle": authority},
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]}]}
