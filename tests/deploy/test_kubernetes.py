"""The Kubernetes manifests are valid, belong together, and fit the worker's configuration."""

from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from agents.worker import _FLUSH_SECONDS, _LEAVE_SECONDS
from assay.cli.worker import select_agents
from assay.config import Configuration, load_configuration
from assay.origins import variables
from tests.deploy.metric_names import labels_by_series
from tests.deploy.test_monitoring import PROMETHEUS, read

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "deploy" / "kubernetes"
KUSTOMIZATION = read(FOLDER / "kustomization.yaml")
KEDA = ROOT / "deploy" / "keda"
SCALED = read(KEDA / "scaled-object.yaml")
FILES = [FOLDER / name for name in KUSTOMIZATION["resources"]]
RESOURCES: list[dict[str, Any]] = [
    each for file in FILES for each in yaml.load_all(file.read_text("utf-8"), yaml.CSafeLoader)
]
OLDEST, NEWEST = "1.27", kubernetes_validate.latest_version()
"""The oldest knows a disruption budget's unhealthyPodEvictionPolicy."""


def of(kind: str) -> list[dict[str, Any]]:
    return [each for each in RESOURCES if each["kind"] == kind]


def name(resource: dict[str, Any]) -> str:
    return f"{resource['kind']}-{resource['metadata']['name']}"


PODS = [(name(each), each["spec"]["template"]) for each in (*of("Deployment"), *of("Job"))]
DEPLOYMENTS = of("Deployment")
(PAGE,) = [each for each in DEPLOYMENTS if "ui" in each["spec"]["template"]["spec"]["containers"][0]["args"]]
WORKERS = [each for each in DEPLOYMENTS if each is not PAGE]
every_pod = pytest.mark.parametrize("pod", [pod for _, pod in PODS], ids=[title for title, _ in PODS])
every_worker = pytest.mark.parametrize("deployment", WORKERS, ids=name)


@pytest.fixture
def configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configuration:
    """The configuration in the mounted file."""
    for variable in variables().values():
        monkeypatch.delenv(variable)
    (config,) = of("ConfigMap")
    file = tmp_path / "assay.toml"
    file.write_text(config["data"]["assay.toml"], encoding="utf-8")
    return load_configuration(file)


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
def test_kubernetes_knows_every_field(version):
    for resource in RESOURCES:
        # An unknown kind is an error here, where the command line only warns.
        kubernetes_validate.validate(resource, version, strict=True)


@every_pod
def test_a_pod_is_nobody_special_and_is_bounded(pod):
    spec = pod["spec"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["automountServiceAccountToken"] is False
    assert spec["enableServiceLinks"] is False
    (account,) = of("ServiceAccount")
    assert spec["serviceAccountName"] == account["metadata"]["name"]
    for container in spec["containers"]:
        context = container["securityContext"]
        assert context["readOnlyRootFilesystem"] is True
        assert context["allowPrivilegeEscalation"] is False
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert container["resources"]["requests"].keys() == {"cpu", "memory"}
        assert "memory" in container["resources"]["limits"]
    assert all("sizeLimit" in volume["emptyDir"] for volume in spec["volumes"] if "emptyDir" in volume)


@every_pod
def test_a_pod_reads_the_configuration_where_it_is_mounted_and_its_secrets_from_a_secret(pod):
    (container,) = pod["spec"]["containers"]
    (config,) = of("ConfigMap")
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    sources = {volume["name"]: volume for volume in pod["spec"]["volumes"]}
    assert mounts.keys() == sources.keys()
    assert sources["configuration"]["configMap"]["name"] == config["metadata"]["name"]
    file = container["args"][container["args"].index("--config") + 1]
    assert file == f"{mounts['configuration']}/assay.toml"
    assert container["envFrom"] == [{"secretRef": {"name": "assay", "optional": True}}]
    assert "env" not in container
    assert not of("Secret")


def test_the_pods_together_run_a_checker_and_all_that_follows(configuration):
    arguments = [each["spec"]["template"]["spec"]["containers"][0]["args"][1:] for each in WORKERS]
    chosen = [dict(zip(each[::2], each[1::2], strict=True)) for each in arguments]
    checkers = [each["--checkers"] for each in chosen if each["--checkers"] != "none"]
    assert checkers
    assert set(checkers) <= set(configuration.installed.plugins)
    agents = [agent for each in chosen if each["--agents"] != "none" for agent in each["--agents"].split(",")]
    assert sorted(select_agents(configuration, agents)) == sorted(select_agents(configuration))


@every_worker
def test_a_worker_is_watched_and_has_the_time_to_drain(deployment, configuration):
    spec = deployment["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    (port,) = container["ports"]
    assert port["containerPort"] == configuration.streams.http.port
    assert configuration.streams.http.host == "0.0.0.0"
    probes = {probe: container[probe]["httpGet"] for probe in ("startupProbe", "livenessProbe", "readinessProbe")}
    assert {get["port"] for get in probes.values()} == {port["name"]}
    assert [get["path"] for get in probes.values()] == ["/healthz", "/healthz", "/readyz"]
    drain = configuration.streams.delivery.drain_seconds + _LEAVE_SECONDS + _FLUSH_SECONDS
    assert spec["terminationGracePeriodSeconds"] > drain


def test_the_page_reads_the_archivists_volume_on_its_node_and_is_served_with_a_token(configuration):
    spec = PAGE["spec"]["template"]["spec"]
    labels = PAGE["spec"]["template"]["metadata"]["labels"]
    (container,), (archivist,) = spec["containers"], [each for each in WORKERS if "archivist" in name(each)]
    (claim,) = of("PersistentVolumeClaim")
    kept = {"name": "verdicts", "persistentVolumeClaim": {"claimName": claim["metadata"]["name"]}}
    near = spec["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0]
    for pod in (spec, archivist["spec"]["template"]["spec"]):
        assert kept in pod["volumes"]
    assert near["labelSelector"]["matchLabels"] == archivist["spec"]["selector"]["matchLabels"]
    # Beyond loopback it starts with a token alone, which the optional secret brings.
    assert container["args"][:3] == ["ui", "--host", "0.0.0.0"]
    (port,) = container["ports"]
    assert port["containerPort"] == 8090
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"] == {"path": "/login", "port": port["name"]}
    (service,) = [each for each in of("Service") if each["metadata"]["name"] == name(PAGE).removeprefix("Deployment-")]
    (policy,) = [each for each in of("NetworkPolicy") if each["metadata"]["name"] == service["metadata"]["name"]]
    for selector in (service["spec"]["selector"], policy["spec"]["podSelector"]["matchLabels"]):
        assert selector == PAGE["spec"]["selector"]["matchLabels"]
        assert selector.items() <= labels.items()
    assert service["spec"]["ports"][0]["targetPort"] == policy["spec"]["ingress"][0]["ports"][0]["port"] == port["name"]


def test_prometheus_finds_every_worker_and_nothing_else():
    (service,) = [each for each in of("Service") if each["metadata"]["name"] != "assay-page"]
    selector = service["spec"]["selector"]
    found = {title for title, pod in PODS if selector.items() <= pod["metadata"]["labels"].items()}
    assert found == {name(each) for each in WORKERS}
    assert service["spec"]["clusterIP"] == "None"
    (job,) = read(PROMETHEUS / "kubernetes.yml")["scrape_configs"]
    (search,) = job["dns_sd_configs"]
    assert search["names"] == [f"{service['metadata']['name']}.{service['metadata']['namespace']}.svc"]
    assert [search["port"]] == [port["port"] for port in service["spec"]["ports"]]
    for deployment in WORKERS:
        annotations = deployment["spec"]["template"]["metadata"]["annotations"]
        assert annotations["prometheus.io/port"] == str(search["port"])


def test_a_checker_is_scaled_on_its_lag_up_to_one_worker_a_partition(configuration):
    (scaler,) = of("HorizontalPodAutoscaler")
    target = scaler["spec"]["scaleTargetRef"]
    (deployment,) = [each for each in DEPLOYMENTS if each["metadata"]["name"] == target["name"]]
    assert target["apiVersion"] == deployment["apiVersion"]
    assert "replicas" not in deployment["spec"]
    assert 1 < scaler["spec"]["minReplicas"] <= scaler["spec"]["maxReplicas"] <= configuration.streams.topics.partitions
    (metric,) = [each["external"]["metric"] for each in scaler["spec"]["metrics"]]
    arguments = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
    assert metric["selector"]["matchLabels"]["agent"] in arguments[arguments.index("--checkers") + 1].split(",")
    assert metric["selector"]["matchLabels"].keys() <= labels_by_series()[metric["name"]]


def test_keda_goes_by_the_lag_of_the_checkers_group_in_place_of_the_other_autoscaler(configuration):
    (trigger,) = SCALED["spec"]["triggers"]
    metadata = trigger["metadata"]
    (scaler,) = of("HorizontalPodAutoscaler")
    (target,) = scaler["spec"]["metrics"]
    topics = configuration.streams.topics
    assert trigger == {"type": "kafka", "metricType": target["external"]["target"]["type"], "metadata": metadata}
    assert metadata == {
        "bootstrapServers": configuration.streams.kafka.bootstrap_servers,
        "consumerGroup": f"{topics.prefix}.{target['external']['metric']['selector']['matchLabels']['agent']}",
        "topic": topics.outputs,
        "lagThreshold": target["external"]["target"]["averageValue"],
        "offsetResetPolicy": "earliest",
    }
    spec = SCALED["spec"]
    assert spec["scaleTargetRef"] == scaler["spec"]["scaleTargetRef"]
    assert spec["advanced"]["horizontalPodAutoscalerConfig"]["behavior"] == scaler["spec"]["behavior"]
    assert scaler["spec"]["minReplicas"] == spec["minReplicaCount"] <= spec["maxReplicaCount"] <= topics.partitions
    component = read(KEDA / "kustomization.yaml")
    assert component["resources"] == ["scaled-object.yaml"]
    (patch,) = map(yaml.safe_load, (each["patch"] for each in component["patches"]))
    assert patch == {key: scaler[key] for key in ("apiVersion", "kind")} | {
        "metadata": {key: scaler["metadata"][key] for key in ("name", "namespace")},
        "$patch": "delete",
    }
