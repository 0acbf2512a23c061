// Package ekssim answers the calls of EKS by which add-ons are configured, and
// does to a real API server what EKS does there: server-side apply as the manager
// "eks" of a manifest with the configuration values rendered in.
//
// A conflict is met as EKS meets it: OVERWRITE takes the fields, PRESERVE leaves
// them to their owners, NONE fails with the conflict. An update ends after some
// questions for it. What else the program asks of AWS is answered by awsfake.
package ekssim
