package scheduling

// The kinds of certificates.
const (
	ResourceKind   = "resource"
	AssignmentKind = "assignment"
	PatternKind    = "pattern"
	CoverKind      = "cover"
	PartedKind     = "parted"
)
