package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// configured writes a configuration with these arguments of the plugin.
func configured(args string) string {
	return "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nleaderElection: {leaderElect: false}\nprofiles:\n" +
		"- pluginConfig: [{name: NodeAffinity, args: {whatever: 1}}, {name: PodTopologySpread, args: " + args + "}]\n"
}

// P136.
func TestDefaultSpread(t *testing.T) {
	s := read(t, configured("{defaultingType: List, defaultConstraints: [{maxSkew: 3, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, minDomains: 2, nodeTaintsPolicy: Honor}, "+
		"{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway}]}"))
	two, honor := int32(2), corev1.NodeInclusionPolicyHonor
	require.Equal(t, []corev1.TopologySpreadConstraint{
		{MaxSkew: 3, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, MinDomains: &two, NodeTaintsPolicy: &honor},
		{MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway},
	}, s.Problem.DefaultSpread)
	for _, none := range []string{
		"{}", "{defaultingType: System}", "{defaultingType: List}", "{defaultingType: List, defaultConstraints: []}",
		"{apiVersion: kubescheduler.config.k8s.io/v1, kind: PodTopologySpreadArgs, defaultingType: List}",
	} {
		require.Empty(t, read(t, configured(none)).Problem.DefaultSpread, none)
	}
	require.Empty(t, read(t, "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n").Problem.DefaultSpread)
}

// P136.
func TestDefaultSpreadIsStrict(t *testing.T) {
	at := "profiles[0].pluginConfig[1].args."
	one := func(constraint string) string {
		return configured("{defaultingType: List, defaultConstraints: [" + constraint + "]}")
	}
	ok := "maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule"
	tests := map[string][]string{
		configured("{defaultingType: Some}"): {at + `defaultingType: "Some" is neither List nor System`},
		configured("{defaultConstraints: [{" + ok + "}]}"): {
			at + "defaultingType: must be List for defaultConstraints to count",
		},
		configured("{defaultingType: System, defaultConstraints: [{" + ok + "}]}"): {
			at + `defaultingType: "System" must be List for defaultConstraints to count`,
		},
		one("{maxSkew: 0, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}"): {at + "defaultConstraints[0].maxSkew: must be at least 1: \"0\""},
		one("{maxSkew: 1, whenUnsatisfiable: DoNotSchedule}"):                    {at + "defaultConstraints[0].topologyKey: is missing"},
		one("{maxSkew: 1, topologyKey: a b, whenUnsatisfiable: DoNotSchedule}"): {
			at + `defaultConstraints[0].topologyKey: is no label key: an optional DNS name and a slash, then up to 63 letters, digits, '-', '_' or '.' with a letter or digit at both ends: "a b"`,
		},
		one("{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: Never}"): {
			at + `defaultConstraints[0].whenUnsatisfiable: must be DoNotSchedule or ScheduleAnyway: "Never"`,
		},
		one("{" + ok + ", labelSelector: {matchLabels: {a: b}}}"): {
			at + `defaultConstraints[0].labelSelector: {"matchLabels":{"a":"b"}} must not be there: it is deduced from services and owners`,
		},
		one("{" + ok + ", matchLabelKeys: [a]}"): {
			at + `defaultConstraints[0].matchLabelKeys: ["a"] must not be there: the selector is deduced from services and owners`,
		},
		one("{" + ok + "}, {" + strings.Replace(ok, "1", "2", 1) + "}"): {
			at + `defaultConstraints[1]: is a duplicate: there is one of zone with DoNotSchedule already`,
		},
		one("{" + ok + ", minDomains: 0}"): {at + "defaultConstraints[0].minDomains: must be at least 1: \"0\""},
		one("{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, minDomains: 2}"): {
			at + "defaultConstraints[0].minDomains: is allowed with whenUnsatisfiable DoNotSchedule only: \"2\"",
		},
		one("{" + ok + ", nodeAffinityPolicy: Always, nodeTaintsPolicy: Never}"): {
			at + `defaultConstraints[0].nodeAffinityPolicy: must be Honor or Ignore: "Always"`,
			at + `defaultConstraints[0].nodeTaintsPolicy: must be Honor or Ignore: "Never"`,
		},
		one("{" + ok + ", maxskew: 2}"):            {at + "defaultConstraints[0].maxskew: is not known (did you mean maxSkew?)"},
		one("{maxSkew: one}"):                      {at + `defaultConstraints[0].maxSkew: "one" is not a whole number of 32 bits`},
		configured("{defaultConstraint: []}"):      {at + "defaultConstraint: is not known (did you mean defaultConstraints?)"},
		strings.ReplaceAll(one(""), "plug", "lug"): {"profiles[0].luginConfig: is not known (did you mean pluginConfig?)"},
	}
	for text, want := range tests {
		_, err := manifest.Loader{}.Read("c.yaml", strings.NewReader(text))
		var lines []string
		for _, w := range want {
			lines = append(lines, "c.yaml: document 1, line 1: KubeSchedulerConfiguration: "+w)
		}
		require.EqualError(t, err, strings.Join(lines, "\n"), text)
	}
}

func TestScoringStrategy(t *testing.T) {
	fit := func(strategy, percentages string) string {
		return "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n" + percentages +
			"profiles: [{percentageOfNodesToScore: 20, pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [a.b/c], scoringStrategy: {" + strategy + "}}}]}]\n"
	}
	s := read(t, fit("type: RequestedToCapacityRatio, resources: [{name: nvidia.com/gpu, weight: 3}, {name: cpu}], "+
		"requestedToCapacityRatio: {shape: [{utilization: 0, score: 1}, {utilization: 90, score: 10}]}", "percentageOfNodesToScore: 50\n"))
	require.Equal(t, scheduling.SchedulerProfile{PercentageOfNodesToScore: 20, Scoring: scheduling.ScoringStrategy{
		Type: scheduling.RequestedToCapacityRatio, Resources: []scheduling.ResourceWeight{{Name: "nvidia.com/gpu", Weight: 3}, {Name: "cpu"}},
		Shape: []scheduling.UtilizationShapePoint{{Utilization: 0, Score: 1}, {Utilization: 90, Score: 10}},
	}}, s.Problem.Scheduler)
	ratio := "type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: [%s]}"
	for strategy, want := range map[string]string{
		"":                     "type: is missing",
		"type: Some":           `type: "Some" is none of LeastAllocated, MostAllocated, RequestedToCapacityRatio`,
		fmt.Sprintf(ratio, ""): "requestedToCapacityRatio.shape: has no point, and RequestedToCapacityRatio scores by it",
		"type: MostAllocated, requestedToCapacityRatio: {shape: [{score: 1}]}":       "requestedToCapacityRatio.shape: is for RequestedToCapacityRatio alone",
		"type: MostAllocated, resources: [{name: cpu, weight: 101}]":                 `resources[0].weight: "101" must be a weight from 1 to 100, or 0 for 1`,
		fmt.Sprintf(ratio, "{utilization: 101, score: 1}"):                           `requestedToCapacityRatio.shape[0].utilization: "101" must be a percentage from 0 to 100`,
		fmt.Sprintf(ratio, "{utilization: 1, score: 11}"):                            `requestedToCapacityRatio.shape[0].score: "11" must be a score from 0 to 10`,
		fmt.Sprintf(ratio, "{utilization: 5, score: 1}, {utilization: 5, score: 2}"): `requestedToCapacityRatio.shape[1].utilization: "5" must be above that of the point before`,
		"type: LeastAllocated, shape: []":                                            "shape: is not known (did you mean scoringStrategy.requestedToCapacityRatio.shape?)",
	} {
		_, err := manifest.Loader{}.Read("c.yaml", strings.NewReader(fit(strategy, "")))
		require.EqualError(t, err, "c.yaml: document 1, line 1: KubeSchedulerConfiguration: profiles[0].pluginConfig[0].args.scoringStrategy."+want)
	}
	_, err := manifest.Loader{}.Read("c.yaml", strings.NewReader("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\npercentageOfNodesToScore: 101\nprofiles: [{}]\n"))
	require.EqualError(t, err, `c.yaml: document 1, line 1: KubeSchedulerConfiguration: percentageOfNodesToScore: "101" must be a percentage from 1 to 100, or 0 for kube-scheduler's own choice`)
}

func TestSchedulerProfiles(t *testing.T) {
	profile := func(name string, skew int) string {
		return fmt.Sprintf("{%spluginConfig: [{name: PodTopologySpread, args: {defaultingType: List, defaultConstraints: [{maxSkew: %d, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}}]}", name, skew)
	}
	config := func(profiles ...string) string {
		return "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [" + strings.Join(profiles, ", ") + "]\n"
	}
	for name, tt := range map[string]struct {
		text     string
		skew     int32
		warnings int
	}{
		"without a name":        {config(profile("", 2)), 2, 0},
		"the only one":          {config(profile("schedulerName: mine, ", 3)), 3, 0},
		"one of several":        {config(profile("schedulerName: mine, ", 3), profile("schedulerName: default-scheduler, ", 4)), 4, 1},
		"none of several":       {config(profile("schedulerName: mine, ", 3), profile("schedulerName: yours, ", 4)), 0, 2},
		"the other has no say":  {config(profile("", 5), "{schedulerName: mine}"), 5, 0},
		"no plugin configured":  {config("{schedulerName: default-scheduler}"), 0, 0},
		"arguments left out":    {config("{pluginConfig: [{name: PodTopologySpread}]}"), 0, 0},
		"no profile whatsoever": {config(), 0, 0},
	} {
		s := read(t, tt.text)
		require.Len(t, s.Warnings, tt.warnings, name)
		if tt.skew == 0 {
			require.Empty(t, s.Problem.DefaultSpread, name)
			continue
		}
		require.Len(t, s.Problem.DefaultSpread, 1, name)
		require.Equal(t, tt.skew, s.Problem.DefaultSpread[0].MaxSkew, name)
	}
	for text, want := range map[string]string{
		config(profile("", 2)) + "---\n" + config(): "c.yaml: document 2, line 5: KubeSchedulerConfiguration: is there twice: there is one in c.yaml: document 1, line 1",
		config("{pluginConfig: [{name: PodTopologySpread}, {name: PodTopologySpread}]}"): "c.yaml: document 1, line 1: KubeSchedulerConfiguration: " +
			`profiles[0].pluginConfig[1].name: "PodTopologySpread" is there twice`,
		strings.Replace(config(), "/v1", "/v1beta3", 1): `c.yaml: document 1, line 1: KubeSchedulerConfiguration: apiVersion: "kubescheduler.config.k8s.io/v1beta3" is not known for KubeSchedulerConfiguration; known is kubescheduler.config.k8s.io/v1`,
	} {
		_, err := manifest.Loader{}.Read("c.yaml", strings.NewReader(text))
		require.EqualError(t, err, want)
	}
}

// Plugins that are not modelled are warned of, but for those of kube-scheduler's default profile.
func TestPluginsThatAreNotModelled(t *testing.T) {
	warned := func(profile string) (out []string) {
		s := read(t, "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- plugins: "+profile+"\n")
		for _, w := range s.Warnings {
			if what, _, found := strings.Cut(w.Message, " of kube-scheduler's configuration"); found {
				out = append(out, what)
			}
		}
		return out
	}
	require.Equal(t, []string{"turning off plugin ImageLocality for score", "weight 5 of plugin NodeResourcesFit"},
		warned("{score: {enabled: [{name: NodeResourcesFit, weight: 5}], disabled: [{name: ImageLocality}]}}"))
	require.Empty(t, warned("{multiPoint: {enabled: [{name: TaintToleration, weight: 3}, {name: NodeResourcesFit, weight: 1}, {name: NodePorts}]}}"))
}
