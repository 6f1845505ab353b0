// Package nominated decides which nominated pods (status.nominatedNodeName, or Problem.Nominated) their node admits, as
// kube-scheduler counts them there; which are planned like any other pod because it does not; and which lose their
// nomination to pods of higher priority. It does not plan: it states problems in which the admitted pods run.
package nominated
