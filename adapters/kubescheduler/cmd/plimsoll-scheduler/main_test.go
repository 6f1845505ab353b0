package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/component-base/metrics"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"sigs.k8s.io/yaml"

	adapter "github.com/plimsoll-go/plimsoll/adapters/kubescheduler"
)

// kube-scheduler accepts the configuration, which turns the plugin on beside all default plugins; without the plan it starts,
// too.
func TestConfig(t *testing.T) {
	text, err := os.ReadFile("config.yaml")
	require.NoError(t, err)
	cfg := accepted(t, text)
	require.NotEmpty(t, cfg.ClientConnection.Kubeconfig, "--kubeconfig has no effect beside --config")
}

// The manifests are valid, kube-scheduler accepts their configuration, and their command line names its file.
func TestDeployment(t *testing.T) {
	text, err := os.ReadFile("../../deploy.yaml")
	require.NoError(t, err)
	var configuration corev1.ConfigMap
	var deployment appsv1.Deployment
	into := map[string]any{
		"ServiceAccount": &corev1.ServiceAccount{}, "ClusterRoleBinding": &rbacv1.ClusterRoleBinding{},
		"RoleBinding": &rbacv1.RoleBinding{}, "ConfigMap": &configuration, "Deployment": &deployment,
	}
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		var kind metav1.TypeMeta
		require.NoError(t, yaml.Unmarshal([]byte(document), &kind))
		require.Contains(t, into, kind.Kind)
		require.NoError(t, yaml.UnmarshalStrict([]byte(document), into[kind.Kind]))
	}
	const file = "config.yaml"
	cfg := accepted(t, []byte(configuration.Data[file]))
	require.Empty(t, cfg.ClientConnection.Kubeconfig, "the account of the pod")

	pod := deployment.Spec.Template.Spec
	require.Equal(t, configuration.Name, pod.Volumes[0].ConfigMap.Name)
	command := app.NewSchedulerCommand()
	require.NoError(t, command.ParseFlags(pod.Containers[0].Args))
	require.Equal(t, pod.Containers[0].VolumeMounts[0].MountPath+"/"+file, command.Flag("config").Value.String())
}

// accepted is a configuration of a second scheduler that kube-scheduler accepts.
func accepted(t *testing.T, text []byte) *config.KubeSchedulerConfiguration {
	t.Helper()
	object, _, err := scheme.Codecs.UniversalDecoder().Decode(text, nil, nil)
	require.NoError(t, err)
	cfg, ok := object.(*config.KubeSchedulerConfiguration)
	require.True(t, ok)
	require.NoError(t, validation.ValidateKubeSchedulerConfiguration(cfg))
	require.False(t, cfg.LeaderElection.LeaderElect, "it would wait for the lease of the cluster's own scheduler")
	require.NotEqual(t, corev1.DefaultSchedulerName, cfg.Profiles[0].SchedulerName)

	var enabled []string
	client := fake.NewClientset()
	plugin := adapter.Factory(adapter.Options{Register: metrics.NewKubeRegistry().Register})
	_, err = kubescheduler.New(t.Context(), client, kubescheduler.NewInformerFactory(client, 0), nil,
		func(string) events.EventRecorderLogger { return &events.FakeRecorder{} },
		kubescheduler.WithProfiles(cfg.Profiles...),
		kubescheduler.WithFrameworkOutOfTreeRegistry(frameworkruntime.Registry{adapter.Name: plugin}),
		kubescheduler.WithBuildFrameworkCapturer(func(p config.KubeSchedulerProfile) {
			for _, plugin := range p.Plugins.MultiPoint.Enabled {
				enabled = append(enabled, plugin.Name)
			}
		}))
	require.NoError(t, err)
	require.Contains(t, enabled, adapter.Name)
	require.Contains(t, enabled, "NodeResourcesFit")
	return cfg
}
