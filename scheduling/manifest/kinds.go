package manifest

import (
	"slices"
	"strings"
)

// kind names a kind of object by its API group and name.
type kind struct{ group, name string }

// known are the kinds that are read, with the versions in which their fields mean
// what we take them to mean.
func known(k kind) (read func(*collector, rawObject), versions []string) {
	v1 := []string{"v1"}
	switch k {
	case kind{"", "Pod"}:
		return (*collector).pod, v1
	case kind{"", "Node"}:
		return (*collector).node, v1
	case kind{"", "Namespace"}:
		return (*collector).namespace, v1
	case kind{"", "ReplicationController"}:
		return (*collector).replicationController, v1
	case kind{"", "LimitRange"}:
		return (*collector).limitRange, v1
	case kind{"", "Service"}:
		return (*collector).service, v1
	case kind{"", "PersistentVolumeClaim"}:
		return (*collector).volumeClaim, v1
	case kind{"", "PersistentVolume"}:
		return (*collector).volume, v1
	case kind{"apps", "Deployment"}:
		return (*collector).deployment, v1
	case kind{"apps", "StatefulSet"}:
		return (*collector).statefulSet, v1
	case kind{"apps", "ReplicaSet"}:
		return (*collector).replicaSet, v1
	case kind{"apps", "DaemonSet"}:
		return (*collector).daemonSet, v1
	case kind{"batch", "Job"}:
		return (*collector).job, v1
	case kind{"batch", "CronJob"}:
		return (*collector).cronJob, v1
	case kind{"policy", "PodDisruptionBudget"}:
		return (*collector).disruptionBudget, v1
	case kind{"scheduling.k8s.io", "PriorityClass"}:
		return (*collector).priorityClass, v1
	case kind{"node.k8s.io", "RuntimeClass"}:
		return (*collector).runtimeClass, v1
	case kind{"storage.k8s.io", "StorageClass"}:
		return (*collector).storageClass, v1
	case kind{"storage.k8s.io", "CSINode"}:
		return (*collector).csiNode, v1
	case kind{schedulerGroup, "KubeSchedulerConfiguration"}:
		return (*collector).schedulerConfiguration, v1
	case kind{karpenterGroup, "NodePool"}:
		return (*collector).nodePool, []string{"v1", "v1beta1"}
	case kind{karpenterGroup, "NodeClaim"}:
		return (*collector).nodeClaim, []string{"v1", "v1beta1"}
	case kind{karpenterGroup, "NodeOverlay"}:
		return (*collector).nodeOverlay, []string{"v1alpha1"}
	}
	return nil, nil
}

// karpenterGroup is the API group of NodePools.
const karpenterGroup = "karpenter.sh"

// schedulerGroup is the API group of kube-scheduler's configuration file.
const schedulerGroup = "kubescheduler.config.k8s.io"

// irrelevant says whether objects of a kind make no pods and have no say in where
// pods go.
func irrelevant(k kind) bool {
	switch k.group {
	case "":
		return slices.Contains([]string{
			"Binding", "ComponentStatus", "ConfigMap", "Endpoints", "Event", "PodTemplate",
			"ResourceQuota", "Secret", "ServiceAccount",
		}, k.name)
	case "apps":
		return k.name == "ControllerRevision"
	case "policy":
		return k.name == "PodSecurityPolicy"
	case "storage.k8s.io":
		return slices.Contains([]string{"CSIDriver", "CSIStorageCapacity", "VolumeAttachment", "VolumeAttributesClass"}, k.name)
	case "argoproj.io":
		return slices.Contains([]string{"Application", "ApplicationSet", "AppProject"}, k.name)
	case "keda.sh":
		return k.name != "ScaledJob"
	case "monitoring.coreos.com":
		return slices.Contains([]string{
			"AlertmanagerConfig", "PodMonitor", "Probe", "PrometheusRule", "ScrapeConfig", "ServiceMonitor",
		}, k.name)
	}
	return slices.Contains([]string{
		"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io",
		"authentication.k8s.io", "authorization.k8s.io", "autoscaling", "autoscaling.k8s.io",
		"cert-manager.io", "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io",
		"eks.amazonaws.com", "events.k8s.io", "external-secrets.io", "flowcontrol.apiserver.k8s.io",
		"gateway.networking.k8s.io", "karpenter.azure.com", "karpenter.k8s.aws", "karpenter.kwok.sh",
		"metrics.k8s.io", "networking.k8s.io", "rbac.authorization.k8s.io", "snapshot.storage.k8s.io",
	}, k.group)
}

// unknownHint says what to do about a kind that is not known.
func unknownHint(k kind) string {
	switch {
	case k.group == "kustomize.config.k8s.io":
		return "is not an object of a cluster: run kubectl kustomize and plan what it prints"
	case k.group == karpenterGroup && k.name == "Provisioner":
		return "is not known any more: convert it to a NodePool"
	case k.group == "extensions":
		return "was removed from Kubernetes: use apps/v1"
	}
	if meant := meantKind(k); meant != "" {
		return "is not known" + didYouMean(meant)
	}
	return "is not known, and may stand for pods that the plan would miss; " +
		"to plan without it, use --ignore-unknown (Loader.IgnoreUnknown)"
}

// splitVersion takes an apiVersion apart.
func splitVersion(apiVersion string) (group, version string) {
	group, version, found := strings.Cut(apiVersion, "/")
	if !found {
		return "", apiVersion
	}
	return group, version
}
