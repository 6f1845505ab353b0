package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/component-base/metrics"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	adapter "github.com/plimsoll-go/plimsoll/adapters/kubescheduler"
)

// kube-scheduler accepts the configuration, which turns the plugin on beside all default plugins; without the plan it starts,
// too.
func TestConfig(t *testing.T) {
	text, err := os.ReadFile("config.yaml")
	require.NoError(t, err)
	object, _, err := scheme.Codecs.UniversalDecoder().Decode(text, nil, nil)
	require.NoError(t, err)
	cfg, ok := object.(*config.KubeSchedulerConfiguration)
	require.True(t, ok)
	require.NoError(t, validation.ValidateKubeSchedulerConfiguration(cfg))

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
}
