package manifest

import (
	"errors"
	"slices"
	"strings"
)

// accept reads one object of a kind that is known. One that is not valid is left out as
// a whole if the caller wants that.
func (c *collector) accept(r reader, o rawObject) {
	if c.loader.SkipInvalid {
		if f := c.loader.invalid(r, o); f != nil {
			c.fault(f)
			return
		}
	}
	r.read(c, o)
}

// invalid returns the first fault that an object has by itself, as reading it or planning
// with it would tell; nil where there is none.
func (l Loader) invalid(r reader, o rawObject) *Fault {
	c := newCollector(Loader{MaxPods: l.MaxPods})
	r.read(c, o)
	s, err := c.finish(nil)
	if err == nil {
		err = s.Locate(s.Problem.Validate())
	}
	var faults Faults
	switch {
	case err == nil:
		return nil
	case errors.As(err, &faults):
		f := faults[0]
		if isPlaceholder(f.Value) {
			f.Reason = Template
		}
		return f
	}
	return &Fault{At: o.at, Object: refOf(o), Message: err.Error()}
}

// isPlaceholder says whether a value that makes no sense stands for one that is still to
// be filled in.
func isPlaceholder(value string) bool {
	return isTemplate(value) || strings.ContainsAny(value, "<>") || strings.Contains(value, "${") || strings.Contains(value, "$(")
}

// reportDeploying warns of kinds by which other controllers bring in objects that are not
// in the input.
func (c *collector) reportDeploying() {
	for k, seen := range c.deploying {
		c.warn(seen.object, "is of kind "+k.name+": what it deploys is planned only if it is in the input, too"+others(seen.count))
	}
}

// deploys says whether objects of a kind have their controller bring further objects into
// the cluster, from a repository or a chart.
func deploys(k kind) bool {
	return slices.Contains([]kind{
		{"argoproj.io", "Application"}, {"argoproj.io", "ApplicationSet"},
		{"fleet.cattle.io", "Bundle"}, {"fleet.cattle.io", "GitRepo"},
		{"helm.cattle.io", "HelmChart"}, {"helm.toolkit.fluxcd.io", "HelmRelease"},
		{"kustomize.toolkit.fluxcd.io", "Kustomization"},
	}, k)
}
