"""Makes the pods of a job again, as a controller does: it stands for an operator that Crossover does not know, and for
a user who makes pods that have no owner."""

from testing.cluster.gang_cluster import PODS
from testing.processes import Failed
from tests.cluster.owners.lives import Lives
from tests.cluster.owners.operator_jobs import templates


class PodMaker:
    """A PodMaker makes pods NAME-0, NAME-1 and so on of a template. Call `step` again and again.

    `case` is an OperatorCase. `suspended` is a function. `owner` is the pods' only ownerReference, or None. With
    `renamed` a pod that is made again gets another name, NAME-0-1 and so on, since the one before may keep its own."""

    def __init__(self, case, name, size, template, suspended, owner=None, renamed=False):
        self._api, self._eyes, self._name = case.world.api, case.eyes, name
        self._template, self._suspended, self._owner, self._renamed = template, suspended, owner, renamed
        self._places = {number: f"{name}-{number}" for number in range(size)}
        self._seen, self._attempt = set(), 0
        self._done = set()  # the names of pods that have succeeded
        self.refusals = []  # what the API server said while our webhook could not be reached

    def step(self):
        """Makes the pods that are missing, and deletes those that failed or that are not to run."""
        suspended = self._suspended()
        there = {pod["metadata"]["name"]: pod["status"].get("phase") for pod in self._eyes.pods(self._name)}
        self._seen |= set(there)
        self._done |= {name for name, phase in there.items() if phase == "Succeeded"}
        for number, name in self._places.items():
            if name in self._done:
                continue
            if name in there:
                if suspended or there[name] == "Failed":
                    self._api.delete(f"{PODS}/{name}")
            elif not suspended:
                self._make(self._next(number, name))

    def _next(self, number, name):
        """Returns the name of the pod that takes the place of one that is not there."""
        if self._renamed and name in self._seen:
            self._attempt += 1
            self._places[number] = f"{self._name}-{number}-{self._attempt}"
        return self._places[number]

    def _make(self, name):
        metadata = {**self._template["metadata"], "name": name}
        if self._owner:
            metadata["ownerReferences"] = [self._owner]
        try:
            self._api.create(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": metadata,
                                    "spec": self._template["spec"]})
        except Failed as failure:
            # The one before may still be on its way out, and the webhook may have come up only now.
            if "failed calling webhook" in str(failure):
                self.refusals.append(str(failure))
            elif "status 409" not in str(failure):
                raise


class Made(Lives):
    """Made is mixed into cases whose pods a PodMaker makes. Their jobs have one template."""

    RENAMED = False

    def is_suspended(self, _name):
        return False

    def owner(self, _name):
        """Returns the ownerReference of the pods, or None."""
        return None

    def create(self, job, pods=True):
        name = super().create(job, pods=False)
        [template] = templates(job)
        self.maker = PodMaker(self, name, self.SIZE, template, lambda: self.is_suspended(name), self.owner(name),
                              self.RENAMED)
        self.stack.enter_context(self.world.meanwhile(self.maker.step))
        if pods:
            self.until(lambda: self.eyes.pods(name), f"{name} has pods")
        return name

    def refused(self, _name):
        return self.maker.refusals

    def end(self, job):
        for pod in self.eyes.pods(job["metadata"]["name"]):
            self.world.api.delete(f"{PODS}/{pod['metadata']['name']}")
        super().end(job)
