#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The plain manifests in docker/kubernetes and the chart in docker/helm: they make the same objects, every
field is one that Kubernetes knows (where its Python client is installed), what refers to something finds
it, and what weir needs is there. A kubectl or a helm at hand is asked as well."""
import copy
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

try:
    import yaml
except ImportError:
    print("skipped kubernetes: no Python module yaml")
    sys.exit(77)
import chart

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PLAIN = os.path.join(ROOT, "docker", "kubernetes")
CHART = os.path.join(ROOT, "docker", "helm", "weir")
ALL_VALUES = {
    "env": [{"name": "WEIR_LOG_FORMAT", "value": "json"}],
    "existingSecret": "kafka",
    "storage": {"className": "fast"},
    "serviceMonitor": {"enabled": True},
}
STRICT_KINDS = {
    "StatefulSet": "V1StatefulSet",
    "Service": "V1Service",
    "ConfigMap": "V1ConfigMap",
    "PodDisruptionBudget": "V1PodDisruptionBudget",
}


def load(path):
    with open(path, encoding="utf-8") as file:
        return yaml.safe_load(file)


def plain_objects():
    """As kustomize makes them, but for the hash behind the name of the config map."""
    settings = load(os.path.join(PLAIN, "kustomization.yaml"))
    objects = [load(os.path.join(PLAIN, name)) for name in settings["resources"]]
    for generator in settings["configMapGenerator"]:
        data = {}
        for name in generator["files"]:
            with open(os.path.join(PLAIN, name), encoding="utf-8") as file:
                data[name] = file.read()
        objects.append({"apiVersion": "v1", "kind": "ConfigMap", "data": data,
                        "metadata": {"name": generator["name"],
                                     "labels": generator["options"]["labels"]}})
    for image in settings["images"]:
        for each in objects:
            for container in pod_of(each).get("containers", []):
                if container["image"] == image["name"]:
                    container["image"] = f"{image['newName']}:{image['newTag']}"
    return objects


def pod_of(each):
    return each["spec"]["template"]["spec"] if each["kind"] == "StatefulSet" else {}


def by_kind(objects):
    objects = list(objects)
    named = {each["kind"]: each for each in objects}
    assert len(named) == len(objects)
    return named


def strict_faults(client, model, value, place):
    """What of `value` the client's model does not know, or lacks."""
    if model.startswith("list["):
        return [fault for i, item in enumerate(value)
                for fault in strict_faults(client, model[5:-1], item, f"{place}[{i}]")]
    if model.startswith("dict("):
        return [] if isinstance(value, dict) else [f"{place}: not a map"]
    types = {"str": str, "int": int, "bool": bool, "object": object, "datetime": str}
    if model in types:
        return [] if isinstance(value, types[model]) else [f"{place}: {value!r} is no {model}"]
    cls = getattr(client, model)
    if not isinstance(value, dict):
        return [f"{place}: not an object"]
    attributes = {json_name: name for name, json_name in cls.attribute_map.items()}
    faults = [f"{place}: unknown field {name}" for name in value if name not in attributes]
    known = {name: item for name, item in value.items() if name in attributes}
    try:
        cls(**{attributes[name]: item for name, item in known.items()})
    except ValueError as error:
        faults.append(f"{place}: {error}")
    for name, item in known.items():
        faults += strict_faults(client, cls.openapi_types[attributes[name]], item, f"{place}.{name}")
    return faults


class Manifests(unittest.TestCase):
    def setUp(self):
        self.plain = plain_objects()
        self.maxDiff = None

    def test_the_chart_makes_what_the_plain_manifests_are(self):
        rendered = by_kind(chart.render(CHART, "weir"))
        # What only the chart has: it cannot name the config map by its contents.
        stateful = rendered["StatefulSet"]
        self.assertEqual(len(stateful["spec"]["template"]["metadata"].pop("annotations")), 1)
        self.assertEqual(pod_of(stateful)["containers"][0].pop("imagePullPolicy"), "IfNotPresent")
        self.assertEqual(rendered, by_kind(self.plain))

    def test_the_service_monitor_is_the_same(self):
        rendered = by_kind(chart.render(CHART, "weir", ALL_VALUES))
        self.assertEqual(rendered["ServiceMonitor"], load(os.path.join(PLAIN, "servicemonitor.yaml")))

    def test_values_find_their_places(self):
        stateful = by_kind(chart.render(CHART, "totals", ALL_VALUES))["StatefulSet"]
        container = pod_of(stateful)["containers"][0]
        self.assertIn({"name": "WEIR_LOG_FORMAT", "value": "json"}, container["env"])
        self.assertEqual(container["envFrom"], [{"secretRef": {"name": "kafka"}}])
        self.assertEqual(stateful["spec"]["volumeClaimTemplates"][0]["spec"]["storageClassName"], "fast")
        self.assertEqual(stateful["metadata"]["name"], "totals")

    def test_another_job_starts_the_pod_anew(self):
        def checksum(values):
            stateful = by_kind(chart.render(CHART, "weir", values))["StatefulSet"]
            return stateful["spec"]["template"]["metadata"]["annotations"]["checksum/job"]
        self.assertNotEqual(checksum({}), checksum({"job": "INSERT INTO b SELECT * FROM a;\n"}))

    def test_every_field_is_known_to_kubernetes(self):
        try:
            from kubernetes import client
        except ImportError:
            self.skipTest("no Python module kubernetes")
        for each in self.plain + chart.render(CHART, "weir", ALL_VALUES):
            if each["kind"] in STRICT_KINDS:
                # Newer than the client that Debian 12 has.
                each = copy.deepcopy(each)
                each.get("spec", {}).pop("unhealthyPodEvictionPolicy", None)
                self.assertEqual(strict_faults(client, STRICT_KINDS[each["kind"]], each, each["kind"]), [])
        wrong = copy.deepcopy(by_kind(self.plain)["StatefulSet"])
        wrong["spec"]["template"]["spec"]["containers"][0]["readinesProbe"] = {}
        del wrong["spec"]["selector"]
        self.assertEqual(len(strict_faults(client, "V1StatefulSet", wrong, "wrong")), 2)

    def test_whatever_is_referred_to_is_there(self):
        for objects in (self.plain, chart.render(CHART, "totals", ALL_VALUES)):
            named = by_kind(objects)
            stateful, pod = named["StatefulSet"], pod_of(named["StatefulSet"])
            labels = stateful["spec"]["template"]["metadata"]["labels"]
            self.assertEqual(stateful["spec"]["serviceName"], named["Service"]["metadata"]["name"])
            selectors = [stateful["spec"]["selector"]["matchLabels"], named["Service"]["spec"]["selector"],
                         named["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"]]
            for selector in selectors:
                self.assertEqual(selector, labels)
            container = pod["containers"][0]
            volumes = {volume["name"] for volume in pod["volumes"]}
            volumes |= {claim["metadata"]["name"] for claim in stateful["spec"]["volumeClaimTemplates"]}
            self.assertEqual({mount["name"] for mount in container["volumeMounts"]}, volumes)
            self.assertEqual(pod["volumes"][0]["configMap"]["name"], named["ConfigMap"]["metadata"]["name"])
            ports = {port["name"]: port["containerPort"] for port in container["ports"]}
            self.assertEqual(ports, {"http": 8080})
            for probe in ("livenessProbe", "readinessProbe"):
                self.assertIn(container[probe]["httpGet"]["port"], ports)
            self.assertIn(named["Service"]["spec"]["ports"][0]["targetPort"], ports)
            monitor = named.get("ServiceMonitor")
            if monitor:
                self.assertEqual(monitor["spec"]["endpoints"][0]["port"],
                                 named["Service"]["spec"]["ports"][0]["name"])
                self.assertEqual(monitor["spec"]["selector"]["matchLabels"],
                                 named["Service"]["metadata"]["labels"])

    def test_what_weir_needs_is_there(self):
        stateful = by_kind(self.plain)["StatefulSet"]
        pod = pod_of(stateful)
        container = pod["containers"][0]
        self.assertEqual(stateful["spec"]["replicas"], 1)
        self.assertGreater(pod["terminationGracePeriodSeconds"], 30)
        self.assertIs(pod["enableServiceLinks"], False)
        self.assertEqual(pod["securityContext"]["runAsUser"], 10001)
        self.assertEqual(pod["securityContext"]["fsGroup"], 10001)
        self.assertIs(container["securityContext"]["readOnlyRootFilesystem"], True)
        self.assertEqual(container["livenessProbe"]["httpGet"]["path"], "/livez")
        self.assertEqual(container["readinessProbe"]["httpGet"]["path"], "/readyz")
        mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
        self.assertEqual(mounts, {"/etc/weir", "/var/lib/weir"})

    def test_the_version_is_that_of_the_program(self):
        with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
            version = re.search(r"project\(weir VERSION (\S+)", file.read()).group(1)
        settings = load(os.path.join(CHART, "Chart.yaml"))
        self.assertEqual((settings["version"], settings["appVersion"]), (version, version))
        container = pod_of(by_kind(self.plain)["StatefulSet"])["containers"][0]
        self.assertEqual(container["image"], f"weir:{version}")

    def test_kustomize_makes_the_same(self):
        if shutil.which("kubectl") is None:
            self.skipTest("no kubectl")
        text = subprocess.run(["kubectl", "kustomize", PLAIN], check=True, capture_output=True).stdout
        made = by_kind(yaml.safe_load_all(text))
        generated = made["ConfigMap"]["metadata"]["name"]
        self.assertEqual(pod_of(made["StatefulSet"])["volumes"][0]["configMap"]["name"], generated)
        made = json.loads(json.dumps(made).replace(generated, "weir-job"))
        self.assertEqual(made, by_kind(self.plain))

    def test_helm_renders_the_same(self):
        if shutil.which("helm") is None:
            self.skipTest("no helm")
        subprocess.run(["helm", "lint", "--strict", CHART], check=True, capture_output=True)
        for values in ({}, ALL_VALUES):
            command = ["helm", "template", "totals", CHART]
            for name, value in values.items():
                command += ["--set-json", f"{name}={json.dumps(value)}"]
            text = subprocess.run(command, check=True, capture_output=True).stdout
            made = by_kind(each for each in yaml.safe_load_all(text) if each is not None)
            self.assertEqual(made, by_kind(chart.render(CHART, "totals", values)))


if __name__ == "__main__":
    unittest.main()
