package manifest

import "strings"

// Object is one of the input, as it stands there.
type Object struct {
	// APIVersion and Kind are its own.
	APIVersion, Kind string
	// JSON is the object, also where the input is YAML.
	JSON []byte
	// Read says that its kind counts for plans.
	Read bool
}

// rawObject is one object of the input, still undecoded.
type rawObject struct {
	at         Location
	apiVersion string
	kind       string
	json       []byte
}

// groupKind names a kind of object by its API group and name.
type groupKind struct{ group, name string }

// group returns the kind of an object by the API group that it names.
func (o rawObject) group() groupKind {
	group, _ := splitVersion(o.apiVersion)
	return groupKind{group, o.kind}
}

// splitVersion takes an apiVersion apart.
func splitVersion(apiVersion string) (group, version string) {
	group, version, found := strings.Cut(apiVersion, "/")
	if !found {
		return "", apiVersion
	}
	return group, version
}
