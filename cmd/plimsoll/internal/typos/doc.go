// Package typos finds names that pods and NodePools ask for and that no object has, where an object has a name that is
// spelt almost the same.
package typos
