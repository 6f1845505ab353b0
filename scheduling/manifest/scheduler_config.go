package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/internal/spelling"
)

// spreadPlugin is the plugin whose configuration holds default constraints.
const spreadPlugin = "PodTopologySpread"

// schedulerConfiguration is kube-scheduler's configuration file. What plans do not
// know is left as it is, but no field may be unknown: a typo would
// leave constraints out.
type schedulerConfiguration struct {
	metav1.TypeMeta `json:",inline"`
	Profiles        []schedulerProfile `json:"profiles"`

	Metadata                  json.RawMessage `json:"metadata"`
	Parallelism               json.RawMessage `json:"parallelism"`
	LeaderElection            json.RawMessage `json:"leaderElection"`
	ClientConnection          json.RawMessage `json:"clientConnection"`
	EnableProfiling           json.RawMessage `json:"enableProfiling"`
	EnableContentionProfiling json.RawMessage `json:"enableContentionProfiling"`
	PercentageOfNodesToScore  json.RawMessage `json:"percentageOfNodesToScore"`
	PodInitialBackoffSeconds  json.RawMessage `json:"podInitialBackoffSeconds"`
	PodMaxBackoffSeconds      json.RawMessage `json:"podMaxBackoffSeconds"`
	Extenders                 json.RawMessage `json:"extenders"`
	DelayCacheUntilActive     json.RawMessage `json:"delayCacheUntilActive"`
}

type schedulerProfile struct {
	SchedulerName            string          `json:"schedulerName"`
	PercentageOfNodesToScore json.RawMessage `json:"percentageOfNodesToScore"`
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

// schedulerConfiguration reads the default constraints. What kube-scheduler would not
// start with is a fault here, too.
func (c *collector) schedulerConfiguration(o rawObject) {
	refuse := func(at string, value any, msg string) {
		c.fault(&Fault{At: o.at, Object: o.kind, Field: at, Value: lo.Ternary(value == nil, "", written(value)), Message: msg})
	}
	if c.scheduler != nil {
		refuse("", nil, "is there twice: there is one in "+c.scheduler.String())
		return
	}
	c.scheduler = &o.at
	var config schedulerConfiguration
	profile := -1
	if faults := decodeStrictly(o.json, &config, ""); len(faults) > 0 {
		c.refuse(o, o.kind, faults)
	} else {
		profile = c.defaultProfile(config.Profiles)
	}
	if profile < 0 {
		return
	}
	seen := false
	for i, plugin := range config.Profiles[profile].PluginConfig {
		at := element(element("profiles", profile)+".pluginConfig", i)
		switch {
		case plugin.Name != spreadPlugin:
			continue
		case seen:
			refuse(at+".name", plugin.Name, "is there twice")
			return
		}
		seen = true
		var args spreadArgs
		if len(plugin.Args) > 0 {
			faults := decodeStrictly(plugin.Args, &args, at+".args")
			if len(faults) == 0 {
				faults = args.check(at + ".args")
			}
			c.refuse(o, o.kind, faults)
		}
		c.problem.DefaultSpread = args.DefaultConstraints
	}
}

// defaultProfile is the profile of pods that name no scheduler, or the only one; -1 if there
// is neither. The others are left out with a warning if they set something up.
func (c *collector) defaultProfile(profiles []schedulerProfile) int {
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
			if i != chosen && plugin.Name == spreadPlugin {
				c.warn("KubeSchedulerConfiguration/"+p.SchedulerName, "default constraints of a further scheduler were left out; a plan is for one")
			}
		}
	}
	return chosen
}

// decodeStrictly decodes what stands at a path. Fields that are not known are faults, too.
func decodeStrictly(raw []byte, into any, at string) []fieldFault {
	faults, unknown, _ := decode(raw, into, at)
	for _, field := range unknown {
		faults = append(faults, fieldFault{field: below(at, field), msg: "is not known" + didYouMean(spelling.Field(reflect.TypeOf(into).Elem(), field))})
	}
	return faults
}

// check finds what kube-scheduler would refuse. The defaults that it has by itself
// (defaultingType System) are wishes that a plan need not follow; none are taken.
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
		here := element(constraints, i)
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
