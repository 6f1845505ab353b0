// Package typos finds names that pods and NodePools ask for and that nothing has, where something
// has one that is spelt almost the same.
package typos
