package compile

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Requestable are the resources that pods may request by name. Attachments are not
// among them: no part of a plan speaks of them.
func (c *Compiler) Requestable() []corev1.ResourceName {
	return slices.DeleteFunc(slices.Clone(c.Table.Names), func(name corev1.ResourceName) bool { return podspec.AttachDriver(name) != "" })
}

// Unattached is a request without the attachments of volumes. The bound passes over
// their limits, which keeps it valid.
func (c *Compiler) Unattached(request []int64) []int64 {
	if c.Classes.Volumes == nil {
		return request
	}
	out := slices.Clone(request)
	for d, name := range c.Table.Names {
		if podspec.AttachDriver(name) != "" {
			out[d] = 0
		}
	}
	return out
}

// AppendGroup appends what identifies the constraints of a group, the claims aside
// that its pods share with others.
func (c *Compiler) AppendGroup(b []byte, group int) []byte {
	signature := c.Classes.Signatures[group]
	return podspec.AppendText(b, signature[:len(signature)-c.Classes.Groups[group].Sharing])
}

// Spokesmen are the first pods of a class whose volumes say in different words where
// they can be used. Whoever checks a bound need not know that they mean the same.
func (c *Compiler) Spokesmen(class *podspec.PodClass) []*corev1.Pod {
	x := c.Classes.Volumes
	if x == nil || len(c.Classes.Groups[class.Group].Volumes) == 0 {
		return class.Pods[:1]
	}
	var out []*corev1.Pod
	said := map[string]bool{}
	var b []byte
	for _, pod := range class.Pods {
		b = b[:0]
		for _, claim := range x.ClaimsOf(pod) {
			b = claim.AppendWords(append(b, '|'))
		}
		if !said[string(b)] {
			said[string(b)] = true
			out = append(out, pod)
		}
	}
	return out
}
