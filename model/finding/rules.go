package finding

// Rules is the table of rules, in the order in which `chkscope rules` prints it.
func Rules() []Rule {
	return []Rule{
		deploymentOverFramesize,
		acknowledgeOverFramesize,
		legacyState,
		inlineHeavy,
		coordinatorHeavy,
		sstExplosion,
		inFlightHeavy,
		subtaskSkew,
		keyGroupSkew,
		missingFile,
		emptyFile,
		wrongLength,
		unchecked,
		nativeClaimDefect,
		foreignReference,
		finishedOrEmpty,
		autoID,
		versionLint,
		maxParallelism,
	}
}
