package manifest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/internal/strict"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// The plugins whose arguments are read.
const (
	spreadPlugin = "PodTopologySpread"
	fitPlugin    = "NodeResourcesFit"
)

// schedulerConfiguration is kube-scheduler's configuration file. Known fields that plans do not use
// are ignored, but no field may be unknown, because a typo would drop constraints.
type schedulerConfiguration struct {
	metav1.TypeMeta `json:",inline"`
	Profiles        []schedulerProfile `json:"profiles"`

	Metadata                  json.RawMessage `json:"metadata"`
	Parallelism               json.RawMessage `json:"parallelism"`
	LeaderElection            json.RawMessage `json:"leaderElection"`
	ClientConnection          json.RawMessage `json:"clientConnection"`
	EnableProfiling           json.RawMessage `json:"enableProfiling"`
	EnableContentionProfiling json.RawMessage `json:"enableContentionProfiling"`
	PercentageOfNodesToScore  *int            `json:"percentageOfNodesToScore"`
	PodInitialBackoffSeconds  json.RawMessage `json:"podInitialBackoffSeconds"`
	PodMaxBackoffSeconds      json.RawMessage `json:"podMaxBackoffSeconds"`
	Extenders                 json.RawMessage `json:"extenders"`
	DelayCacheUntilActive     json.RawMessage `json:"delayCacheUntilActive"`
}

type schedulerProfile struct {
	SchedulerName            string          `json:"schedulerName"`
	PercentageOfNodesToScore *int            `json:"percentageOfNodesToScore"`
	Plugins                  json.RawMessage `json:"plugins"`
	PluginConfig             []pluginConfig  `json:"pluginConfig"`
}

type pluginConfig struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// spreadArgs are the arguments of the plugin.
type spreadArgs struct {
	metav1.TypeMeta    `json:",inline"`
	DefaultConstraints []corev1.TopologySpreadConstraint `json:"defaultConstraints"`
	DefaultingType     string                            `json:"defaultingType"`
}

// fitArgs are the arguments of the plugin.
type fitArgs struct {
	metav1.TypeMeta       `json:",inline"`
	IgnoredResources      json.RawMessage `json:"ignoredResources"`
	IgnoredResourceGroups json.RawMessage `json:"ignoredResourceGroups"`
	ScoringStrategy       *struct {
		Type                     scheduling.ScoringStrategyType `json:"type"`
		Resources                []scheduling.ResourceWeight    `json:"resources"`
		RequestedToCapacityRatio struct {
			Shape []scheduling.UtilizationShapePoint `json:"shape"`
		} `json:"requestedToCapacityRatio"`
	} `json:"scoringStrategy"`
}

// readSchedulerConfiguration reads the default constraints and the scoring strategy. A configuration
// with which kube-scheduler would not start is a fault.
func readSchedulerConfiguration(c *collector, o rawObject) {
	refuse := func(at string, value any, msg string) {
		c.found.fault(&Fault{At: o.at, Object: o.kind, Field: at, Value: lo.Ternary(value == nil, "", written(value)), Message: msg})
	}
	if c.scheduler != nil {
		refuse("", nil, "is there twice: there is one in "+c.scheduler.String())
		return
	}
	c.scheduler = &o.at
	var config schedulerConfiguration
	profile := -1
	if faults := decodeStrictly(o.json, &config, ""); len(faults) > 0 {
		c.found.refuse(o, o.kind, faults)
	} else {
		profile = defaultProfile(c.found, config.Profiles)
	}
	if profile < 0 {
		return
	}
	p, at := &config.Profiles[profile], strict.Element("profiles", profile)
	var read scheduling.SchedulerProfile
	percentage, fit := at+".percentageOfNodesToScore", ""
	if p.PercentageOfNodesToScore == nil {
		p.PercentageOfNodesToScore, percentage = config.PercentageOfNodesToScore, "percentageOfNodesToScore"
	}
	read.PercentageOfNodesToScore = lo.FromPtr(p.PercentageOfNodesToScore)
	for _, left := range append(unmodelled(p.Plugins), lo.Ternary(len(config.Extenders) > 0, []string{"extenders"}, nil)...) {
		c.found.warn("KubeSchedulerConfiguration/"+cmp.Or(p.SchedulerName, corev1.DefaultSchedulerName), left+" of kube-scheduler's configuration is not modelled: prices to expect are those of its default plugins with their own weights")
	}
	seen := map[string]bool{}
	for i, plugin := range p.PluginConfig {
		at := strict.Element(at+".pluginConfig", i)
		args := at + ".args"
		switch {
		case plugin.Name != spreadPlugin && plugin.Name != fitPlugin:
			continue
		case seen[plugin.Name]:
			refuse(at+".name", plugin.Name, "is there twice")
			return
		}
		switch seen[plugin.Name] = true; {
		case len(plugin.Args) == 0:
		case plugin.Name == fitPlugin:
			fit = args + ".scoringStrategy"
			c.found.refuse(o, o.kind, readScoring(plugin.Args, args, &read.Scoring))
		default:
			c.found.refuse(o, o.kind, defaultSpread(c, plugin.Args, args))
		}
	}
	var fields *scheduling.FieldErrors
	if !errors.As(provisioning.Validate(&scheduling.Problem{Scheduler: read}), &fields) {
		c.objects.problem.Scheduler = read
		return
	}
	place := strings.NewReplacer("scheduler.percentageOfNodesToScore", percentage, "scheduler.scoring.shape", fit+".requestedToCapacityRatio.shape", "scheduler.scoring", fit)
	for _, e := range fields.Errors {
		c.found.refuse(o, o.kind, []fieldFault{{field: place.Replace(e.Path), value: quote(e.Value), msg: e.Message}})
	}
}

// defaultSpread reads the arguments of PodTopologySpread.
func defaultSpread(c *collector, raw []byte, at string) []fieldFault {
	var args spreadArgs
	faults := decodeStrictly(raw, &args, at)
	if len(faults) == 0 {
		faults = args.check(at)
	}
	c.objects.problem.DefaultSpread = args.DefaultConstraints
	return faults
}

// readScoring reads the arguments of NodeResourcesFit.
func readScoring(raw []byte, at string, into *scheduling.ScoringStrategy) []fieldFault {
	var args fitArgs
	faults := decodeStrictly(raw, &args, at)
	s := args.ScoringStrategy
	switch {
	case len(faults) > 0 || s == nil:
	case s.Type == "":
		faults = []fieldFault{{field: at + ".scoringStrategy.type", msg: "is missing"}}
	default:
		*into = scheduling.ScoringStrategy{Type: s.Type, Resources: s.Resources, Shape: s.RequestedToCapacityRatio.Shape}
	}
	return faults
}

// unmodelled are the plugins that a profile turns off, or gives other weights than their own.
func unmodelled(raw json.RawMessage) (out []string) {
	var points map[string]struct {
		Enabled []struct {
			Name   string `json:"name"`
			Weight int    `json:"weight"`
		} `json:"enabled"`
		Disabled []struct {
			Name string `json:"name"`
		} `json:"disabled"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &points) != nil {
		return nil
	}
	own := map[string]int{"TaintToleration": 3, "NodeAffinity": 2, spreadPlugin: 2, "InterPodAffinity": 2}
	for _, point := range slices.Sorted(maps.Keys(points)) {
		for _, x := range points[point].Enabled {
			if x.Weight != 0 && x.Weight != max(1, own[x.Name]) {
				out = append(out, fmt.Sprintf("weight %d of plugin %s", x.Weight, x.Name))
			}
		}
		for _, x := range points[point].Disabled {
			out = append(out, "turning off plugin "+x.Name+" for "+point)
		}
	}
	return out
}

// defaultProfile is the profile of pods that name no scheduler, or the only one; -1 if there is
// neither. Further profiles are ignored, with a warning if they configure a plugin.
func defaultProfile(found *findings, profiles []schedulerProfile) int {
	chosen := -1
	for i, p := range profiles {
		if cmp.Or(p.SchedulerName, corev1.DefaultSchedulerName) == corev1.DefaultSchedulerName {
			chosen = i
		}
	}
	if chosen < 0 && len(profiles) == 1 {
		chosen = 0
	}
	for i, p := range profiles {
		for _, plugin := range p.PluginConfig {
			if i != chosen && (plugin.Name == spreadPlugin || plugin.Name == fitPlugin) {
				found.warn("KubeSchedulerConfiguration/"+p.SchedulerName, "arguments of plugin "+plugin.Name+" of a further scheduler were left out; a plan is for one")
			}
		}
	}
	return chosen
}

// decodeStrictly decodes the value at a path. Unknown fields are faults, too.
func decodeStrictly(raw []byte, into any, at string) []fieldFault {
	faults, unknown, _ := decode(raw, into, at, strict.Rules{})
	for _, field := range unknown {
		faults = append(faults, unknownFault(into, at, field))
	}
	return faults
}

// check finds the faults that kube-scheduler would refuse. Its built-in defaults (defaultingType
// System) are preferences that a plan need not follow; none are used.
func (a *spreadArgs) check(at string) (faults []fieldFault) {
	switch a.DefaultingType {
	case "List":
	case "", "System":
		if len(a.DefaultConstraints) > 0 {
			faults = append(faults, fieldFault{field: at + ".defaultingType", value: quote(a.DefaultingType), msg: "must be List for defaultConstraints to count"})
		}
	default:
		faults = append(faults, fieldFault{field: at + ".defaultingType", value: quote(a.DefaultingType), msg: "is neither List nor System"})
	}
	constraints := at + ".defaultConstraints"
	for _, f := range validate(problemOf(corev1.PodSpec{TopologySpreadConstraints: a.DefaultConstraints}), "") {
		f.field = strings.Replace(f.field, "spec.topologySpreadConstraints", constraints, 1)
		faults = append(faults, f)
	}
	for i, c := range a.DefaultConstraints {
		here := strict.Element(constraints, i)
		if c.LabelSelector != nil {
			faults = append(faults, fieldFault{field: here + ".labelSelector", value: written(c.LabelSelector), msg: "must not be there: it is deduced from services and owners"})
		}
		if len(c.MatchLabelKeys) > 0 {
			faults = append(faults, fieldFault{field: here + ".matchLabelKeys", value: written(c.MatchLabelKeys), msg: "must not be there: the selector is deduced from services and owners"})
		}
		if slices.ContainsFunc(a.DefaultConstraints[:i], func(o corev1.TopologySpreadConstraint) bool {
			return o.TopologyKey == c.TopologyKey && o.WhenUnsatisfiable == c.WhenUnsatisfiable
		}) {
			faults = append(faults, fieldFault{field: here, msg: fmt.Sprintf("is a duplicate: there is one of %s with %s already", c.TopologyKey, c.WhenUnsatisfiable)})
		}
	}
	return faults
}
