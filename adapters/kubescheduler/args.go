package kubescheduler

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Name is the plugin's name in registries and scheduler configurations.
const Name = "PlimsollPlacement"

// Mode is how strictly kube-scheduler follows a plan.
type Mode string

// The modes.
const (
	// Pinned binds a planned pod to its planned node and to no other. While the node has not joined or does not admit the pod,
	// the pod stays pending, until the plan is older than Args.MaxAge, and pods without a plan do not take its room on the node. The
	// price is that of plans with scheduling.PlacementPinned.
	Pinned Mode = "Pinned"
	// Nominated, the default, binds a planned pod to its planned node where that admits the pod, and else to the node with
	// the highest score.
	Nominated Mode = "Nominated"
	// Score gives the planned node the highest score of this plugin, which counts as much as the plugin's weight says. In
	// clusters of more than a hundred nodes kube-scheduler looks at a sample of the nodes only, and may leave the planned one
	// out.
	Score Mode = "Score"
)

// defaultMaxAge is as long as a node may take until it is ready.
const defaultMaxAge = 15 * time.Minute

// Args are the plugin's arguments in a KubeSchedulerConfiguration (pluginConfig).
type Args struct {
	metav1.TypeMeta `json:",inline"`
	// Mode is how strictly plans are followed; "" is Nominated.
	Mode Mode `json:"mode,omitempty"`
	// PlanFile is the path of a plan, as "plimsoll plan -o json" writes it. It is read again when it changes, and is as old as
	// its last modification. "" reads the annotations of pods.
	PlanFile string `json:"planFile,omitempty"`
	// MaxAge is how long a plan is followed; 0 is 15 minutes.
	MaxAge metav1.Duration `json:"maxAge,omitempty"`
}

// readArgs reads, completes and checks arguments; a has the values of fields that the configuration lacks. The error names all
// fields that are wrong.
func readArgs(a Args, object runtime.Object) (Args, error) {
	switch o := object.(type) {
	case nil:
	case *runtime.Unknown:
		data, err := yaml.YAMLToJSONStrict(o.Raw)
		if err != nil {
			return a, fmt.Errorf("pluginConfig of %s: %w", Name, err)
		}
		unknown, err := json.UnmarshalStrict(data, &a)
		if err := errors.Join(append(unknown, err)...); err != nil {
			return a, fmt.Errorf("pluginConfig of %s: %w", Name, err)
		}
	default:
		return a, fmt.Errorf("pluginConfig of %s: expected arguments, got %T", Name, object)
	}
	a.Mode = cmp.Or(a.Mode, Nominated)
	a.MaxAge.Duration = cmp.Or(a.MaxAge.Duration, defaultMaxAge)
	var errs []error
	if modes := []Mode{Pinned, Nominated, Score}; !slices.Contains(modes, a.Mode) {
		errs = append(errs, fmt.Errorf("pluginConfig of %s: mode %q is none of %q", Name, a.Mode, modes))
	}
	if a.MaxAge.Duration < 0 {
		errs = append(errs, fmt.Errorf("pluginConfig of %s: maxAge %s is negative", Name, a.MaxAge.Duration))
	}
	return a, errors.Join(errs...)
}
