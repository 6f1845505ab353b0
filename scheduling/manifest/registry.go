package manifest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// objectKey identifies an object in a cluster.
type objectKey struct {
	kind            groupKind
	namespace, name string
}

// registry holds the names of the objects of an input.
type registry struct {
	seen    map[objectKey]Location
	unnamed int // objects that the API server would name
}

// complete gives an object its namespace and drops fields without use.
func (r *registry) complete(obj metav1.Object, namespaced bool) {
	switch {
	case !namespaced:
		obj.SetNamespace("")
	case obj.GetNamespace() == "":
		obj.SetNamespace(metav1.NamespaceDefault)
	}
	obj.SetManagedFields(nil)
	delete(obj.GetAnnotations(), corev1.LastAppliedConfigAnnotation)
	if obj.GetName() == "" && obj.GetGenerateName() != "" {
		// A number in the order of the input stands for the random suffix.
		r.unnamed++
		obj.SetName(fmt.Sprintf("%s%d", obj.GetGenerateName(), r.unnamed))
	}
}

// admit takes down the name of an object; its fault is that it has no valid name, or that of another
// object.
func (r *registry) admit(o rawObject, obj metav1.Object, namespaced bool) *Fault {
	r.complete(obj, namespaced)
	f := Fault{At: o.at, Object: reference(o.kind, obj), Field: "metadata.name", Value: quote(obj.GetName())}
	key := objectKey{o.group(), obj.GetNamespace(), obj.GetName()}
	first, twice := r.seen[key]
	const noName = "is no name: names are of lower-case letters, digits, - and ., and at most 253 long"
	switch ns := obj.GetNamespace(); {
	case obj.GetName() == "":
		f.Object, f.Message = o.kind, "is missing"
	case len(validation.IsDNS1123Subdomain(obj.GetName())) > 0:
		f.Message = noName
	case ns != "" && len(validation.IsDNS1123Label(ns)) > 0:
		f.Field, f.Value, f.Message = "metadata.namespace", quote(ns), noName
	case twice:
		f.Message, f.Kind = "is a duplicate of the one in "+first.String(), Duplicate
	default:
		r.seen[key] = o.at
		return nil
	}
	return &f
}
