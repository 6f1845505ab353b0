package manifest

import (
	"slices"
	"strings"
)

// deploys says whether objects of a kind have their controller bring further objects into
// the cluster, from a repository or a chart.
func deploys(k groupKind) bool {
	return slices.Contains([]groupKind{
		{"argoproj.io", "Application"}, {"argoproj.io", "ApplicationSet"},
		{"fleet.cattle.io", "Bundle"}, {"fleet.cattle.io", "GitRepo"},
		{"helm.cattle.io", "HelmChart"}, {"helm.toolkit.fluxcd.io", "HelmRelease"},
		{"kustomize.toolkit.fluxcd.io", "Kustomization"},
	}, k)
}

// irrelevant says whether objects of a kind make no pods and have no say in where
// pods go.
func irrelevant(k groupKind) bool {
	kinds, ours := map[string]string{
		"":               "Binding ComponentStatus ConfigMap Endpoints Event Secret ServiceAccount",
		"apps":           "ControllerRevision",
		"extensions":     "Ingress NetworkPolicy PodSecurityPolicy",
		"policy":         "Eviction PodSecurityPolicy",
		"storage.k8s.io": "CSIDriver CSIStorageCapacity VolumeAttachment VolumeAttributesClass",
	}[k.group]
	if ours {
		return slices.Contains(strings.Fields(kinds), k.name)
	}
	if makers, known := podGroups()[k.group]; known {
		return !slices.Contains(strings.Fields(makers), k.name)
	}
	return slices.ContainsFunc(podlessGroups(), func(group string) bool {
		return k.group == group || group[0] == '.' && strings.HasSuffix(k.group, group)
	})
}

// podGroups are the API groups of operators in which a few kinds make pods, with these kinds.
func podGroups() map[string]string {
	return map[string]string{
		"apps.openshift.io":            "DeploymentConfig",
		"argoproj.io":                  "AnalysisRun ArgoCD ClusterWorkflow CronWorkflow EventBus EventSource Experiment Rollout Sensor Workflow",
		"batch.volcano.sh":             "CronJob Job",
		"core.strimzi.io":              "StrimziPodSet",
		"elasticsearch.k8s.elastic.co": "Elasticsearch",
		"flink.apache.org":             "FlinkDeployment FlinkSessionJob",
		"install.istio.io":             "IstioOperator",
		"jobset.x-k8s.io":              "JobSet",
		"kafka.strimzi.io":             "Kafka KafkaBridge KafkaConnect KafkaConnectS2I KafkaMirrorMaker KafkaMirrorMaker2 KafkaNodePool",
		"keda.sh":                      "ScaledJob",
		"kibana.k8s.elastic.co":        "Kibana",
		"kubeflow.org":                 "Experiment JAXJob MPIJob MXJob Notebook PaddleJob PyTorchJob ScheduledWorkflow Suggestion TFJob Trial Viewer XGBoostJob",
		"leaderworkerset.x-k8s.io":     "LeaderWorkerSet",
		"monitoring.coreos.com":        "Alertmanager Prometheus PrometheusAgent ThanosRuler",
		"opentelemetry.io":             "OpAMPBridge OpenTelemetryCollector TargetAllocator",
		"postgresql.cnpg.io":           "Cluster Pooler",
		"ray.io":                       "RayCluster RayCronJob RayJob RayService",
		"serving.knative.dev":          "Configuration Revision Service",
		"serving.kserve.io":            "InferenceGraph InferenceService LLMInferenceService",
		"sparkoperator.k8s.io":         "ScheduledSparkApplication SparkApplication SparkConnect",
		"tekton.dev":                   "CustomRun PipelineRun TaskRun",
		"tensorboard.kubeflow.org":     "Tensorboard",
		"trainer.kubeflow.org":         "TrainJob",
	}
}

// podlessGroups are the API groups of which no kind makes pods or says where pods go. One
// that begins with a dot stands for all groups that end so.
func podlessGroups() []string {
	return strings.Fields(`
		admissionregistration.k8s.io apiextensions.k8s.io apiregistration.k8s.io app.k8s.io
		apiserver.config.k8s.io audit.k8s.io authentication.k8s.io authorization.k8s.io
		autoscaling autoscaling.k8s.io certificates.k8s.io
		client.authentication.k8s.io coordination.k8s.io discovery.k8s.io events.k8s.io
		externaldns.k8s.io flowcontrol.apiserver.k8s.io imagepolicy.k8s.io
		internal.apiserver.k8s.io metrics.k8s.io .metrics.k8s.io networking.k8s.io
		.networking.k8s.io .networking.x-k8s.io rbac.authorization.k8s.io resource.k8s.io
		snapshot.storage.k8s.io .snapshot.storage.k8s.io storagemigration.k8s.io

		cluster.x-k8s.io .cluster.x-k8s.io config.kubernetes.io controller-runtime.sigs.k8s.io
		kind.x-k8s.io kueue.x-k8s.io kwok.x-k8s.io metacontroller.k8s.io multicluster.x-k8s.io
		secrets-store.csi.x-k8s.io

		crd.k8s.amazonaws.com eks.amazonaws.com eksctl.io elbv2.k8s.aws karpenter.k8s.aws
		networking.k8s.aws .services.k8s.aws vpcresources.k8s.aws
		karpenter.azure.com karpenter.k8s.gcp karpenter.kwok.sh
		cloud.google.com .cnrm.cloud.google.com .gke.io
		config.openshift.io image.openshift.io project.openshift.io route.openshift.io
		security.openshift.io authorization.openshift.io

		acme.cert-manager.io cert-manager.io trust.cert-manager.io certmanager.k8s.io
		authentication.istio.io config.istio.io extensions.istio.io networking.istio.io
		rbac.istio.io security.istio.io telemetry.istio.io
		bitnami.com cilium.io configuration.konghq.com
		crd.projectcalico.org projectcalico.org projectcontour.io
		external-secrets.io .external-secrets.io .gatekeeper.sh
		image.toolkit.fluxcd.io notification.toolkit.fluxcd.io source.toolkit.fluxcd.io
		.internal.knative.dev kyverno.io .kyverno.io linkerd.io .linkerd.io
		objectbucket.io openreports.io wgpolicyk8s.io
		spire.spiffe.io traefik.containo.us traefik.io velero.io
	`)
}
