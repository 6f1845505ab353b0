package layering

// The ceilings of the walls. They only fall: a change that lowers a figure lowers its ceiling, or removes it.

// namesReached are the types of which a line reaches more than mostNames names.
func namesReached() map[string]int {
	return map[string]int{}
}

// methodsDeclared are the types with more than mostMethods methods.
func methodsDeclared() map[string]int {
	return map[string]int{}
}

// methodFiles are the types whose methods stand in more than mostMethodFiles files.
func methodFiles() map[string]int {
	return map[string]int{
		"instancetypes.Catalog":      11,
		"instancetypes.InstanceType": 6,
		"requirements.Requirement":   5,
	}
}

// embeddings are the structs that embed types of other internal packages, with the number of these.
func embeddings() map[string]int {
	return map[string]int{}
}
