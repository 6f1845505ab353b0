package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/steer"
)

// readConfig decodes a scheduler configuration as kube-scheduler does.
func readConfig(t *testing.T, text string) *config.KubeSchedulerConfiguration {
	t.Helper()
	object, _, err := scheme.Codecs.UniversalDecoder().Decode([]byte(text), nil, nil)
	require.NoError(t, err)
	cfg, ok := object.(*config.KubeSchedulerConfiguration)
	require.True(t, ok)
	return cfg
}

// The configuration is one that kube-scheduler accepts, and turns the plugin on beside
// all default plugins.
func TestConfig(t *testing.T) {
	text, err := os.ReadFile("config.yaml")
	require.NoError(t, err)
	plan := filepath.Join(t.TempDir(), "plan.json")
	require.NoError(t, os.WriteFile(plan, []byte(`{"launches": [{"name": "default-1", "pods": ["default/web"]}]}`), 0o600))
	const planFile = "/etc/plimsoll/plan.json"
	require.Contains(t, string(text), planFile)
	cfg := readConfig(t, strings.Replace(string(text), planFile, plan, 1))
	require.NoError(t, validation.ValidateKubeSchedulerConfiguration(cfg))

	var enabled []string
	client := fake.NewClientset()
	_, err = kubescheduler.New(t.Context(), client, kubescheduler.NewInformerFactory(client, 0), nil,
		func(string) events.EventRecorderLogger { return &events.FakeRecorder{} },
		kubescheduler.WithProfiles(cfg.Profiles...),
		kubescheduler.WithFrameworkOutOfTreeRegistry(frameworkruntime.Registry{steer.Name: steer.FromFile}),
		kubescheduler.WithBuildFrameworkCapturer(func(p config.KubeSchedulerProfile) {
			for _, plugin := range p.Plugins.MultiPoint.Enabled {
				enabled = append(enabled, plugin.Name)
			}
		}))
	require.NoError(t, err)
	require.Contains(t, enabled, steer.Name)
	require.Contains(t, enabled, "NodeResourcesFit")
}

// Without its plan the scheduler does not start.
func TestConfigWithoutPlan(t *testing.T) {
	text, err := os.ReadFile("config.yaml")
	require.NoError(t, err)
	cfg := readConfig(t, strings.Replace(string(text), "/etc/plimsoll/plan.json", "/nowhere/plan.json", 1))
	client := fake.NewClientset()
	_, err = kubescheduler.New(t.Context(), client, kubescheduler.NewInformerFactory(client, 0), nil,
		func(string) events.EventRecorderLogger { return &events.FakeRecorder{} },
		kubescheduler.WithProfiles(cfg.Profiles...),
		kubescheduler.WithFrameworkOutOfTreeRegistry(frameworkruntime.Registry{steer.Name: steer.FromFile}))
	require.ErrorContains(t, err, "/nowhere/plan.json")
}
