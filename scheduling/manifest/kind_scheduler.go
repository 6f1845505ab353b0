package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/plimsoll-go/plimsoll/internal/spelling"
)

// spreadPlugin is the plugin whose configuration holds default constraints.
const spreadPlugin = "PodTopologySpread"

// spreadDefaults are the default constraints of a configuration.
type spreadDefaults struct {
	constraints []corev1.TopologySpreadConstraint
	at          Location
}

// schedulerConfiguration is kube-scheduler's configuration file. What plans do not
// know is left as it is, but no field may be unknown: a slip of the keyboard would
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
	in := inspector{c: c, at: o.at, ref: o.kind, raw: o.json}
	if c.spread != nil {
		c.fault(&Fault{At: o.at, Object: o.kind, Message: "is there twice: there is one in " + c.spread.at.String()})
		return
	}
	c.spread = &spreadDefaults{at: o.at}
	var config schedulerConfiguration
	if !in.strictly(o.json, &config, nil) {
		return
	}
	profile, ok := c.defaultProfile(config.Profiles)
	if !ok {
		return
	}
	seen := false
	for i, plugin := range config.Profiles[profile].PluginConfig {
		if plugin.Name != spreadPlugin {
			continue
		}
		at := path{}.key("profiles").at(profile).key("pluginConfig").at(i)
		if seen {
			in.fault(at.key("name"), "is there twice")
			return
		}
		seen = true
		if len(plugin.Args) > 0 {
			var args spreadArgs
			if in.strictly(plugin.Args, &args, at.key("args")) {
				c.spread.constraints = in.spreadDefaults(&args, at.key("args"))
			}
		}
	}
}

// defaultProfile is the profile of pods that name no scheduler, or the only one. The
// others are left out with a warning if they set something up.
func (c *collector) defaultProfile(profiles []schedulerProfile) (int, bool) {
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
	return chosen, chosen >= 0
}

// strictly decodes what stands at a place into a pointer. Values that do not fit, and
// fields that are not known or stand there twice, are faults; it reports whether there
// are none.
func (in inspector) strictly(raw []byte, into any, at path) bool {
	report := func(field, value, msg string) {
		in.c.fault(&Fault{At: in.at, Object: in.ref, Field: field, Value: value, Message: msg})
	}
	tree, twice, err := parseTree(raw)
	if err != nil {
		report(at.String(), "", err.Error())
		return false
	}
	t := reflect.TypeOf(into).Elem()
	checker := typeChecker{}
	checker.check(tree, t, at)
	for _, f := range checker.faults {
		report(f.field, f.value, f.msg)
	}
	for _, field := range checker.unknown {
		report(field.String(), "", "is not known"+didYouMean(spelling.Field(t, field[len(at):].String())))
	}
	for _, p := range twice {
		report(append(at[:len(at):len(at)], p...).String(), "", "stands there twice")
	}
	if len(checker.faults)+len(checker.unknown)+len(twice) > 0 {
		return false
	}
	if err := json.Unmarshal(raw, into); err != nil {
		report(at.String(), "", "does not fit: "+err.Error())
		return false
	}
	return true
}

// spreadDefaults checks the arguments as kube-scheduler does. The defaults that it has
// by itself (defaultingType System) are wishes that a plan need not follow; none are
// taken.
func (in inspector) spreadDefaults(args *spreadArgs, at path) []corev1.TopologySpreadConstraint {
	switch args.DefaultingType {
	case "List":
	case "", "System":
		if len(args.DefaultConstraints) > 0 {
			in.fault(at.key("defaultingType"), "must be List for defaultConstraints to count")
		}
	default:
		in.fault(at.key("defaultingType"), "is neither List nor System")
	}
	type pair struct {
		key    string
		action corev1.UnsatisfiableConstraintAction
	}
	seen := map[pair]bool{}
	for i := range args.DefaultConstraints {
		c := &args.DefaultConstraints[i]
		here := at.key("defaultConstraints").at(i)
		in.spreadDefault(c, here)
		if p := (pair{c.TopologyKey, c.WhenUnsatisfiable}); seen[p] {
			in.fault(here, fmt.Sprintf("is a duplicate: there is one of %s with %s already", p.key, p.action))
		} else {
			seen[p] = true
		}
	}
	return args.DefaultConstraints
}

// spreadDefault checks one default constraint.
func (in inspector) spreadDefault(c *corev1.TopologySpreadConstraint, at path) {
	if c.MaxSkew <= 0 {
		in.fault(at.key("maxSkew"), "is not above 0")
	}
	if c.TopologyKey == "" {
		in.fault(at.key("topologyKey"), "is missing")
	} else if len(validation.IsQualifiedName(c.TopologyKey)) > 0 {
		in.fault(at.key("topologyKey"), "is no key of a label")
	}
	if c.WhenUnsatisfiable != corev1.DoNotSchedule && c.WhenUnsatisfiable != corev1.ScheduleAnyway {
		in.fault(at.key("whenUnsatisfiable"), "is neither DoNotSchedule nor ScheduleAnyway")
	}
	if c.LabelSelector != nil {
		in.fault(at.key("labelSelector"), "must not be there: it is deduced from services and owners")
	}
	if len(c.MatchLabelKeys) > 0 {
		in.fault(at.key("matchLabelKeys"), "must not be there: the selector is deduced from services and owners")
	}
	if c.MinDomains != nil {
		if *c.MinDomains <= 0 {
			in.fault(at.key("minDomains"), "is not above 0")
		}
		if c.WhenUnsatisfiable != corev1.DoNotSchedule {
			in.fault(at.key("minDomains"), "goes with DoNotSchedule only")
		}
	}
	in.policy(c.NodeAffinityPolicy, at.key("nodeAffinityPolicy"))
	in.policy(c.NodeTaintsPolicy, at.key("nodeTaintsPolicy"))
}

// policy reports a policy on nodes that is none.
func (in inspector) policy(p *corev1.NodeInclusionPolicy, at path) {
	if p != nil && *p != corev1.NodeInclusionPolicyHonor && *p != corev1.NodeInclusionPolicyIgnore {
		in.fault(at, "is neither Honor nor Ignore")
	}
}
