package finding

// Rules is the table of rules, in the order in which `chkscope rules` prints it.
func Rules() []Rule {
	return []Rule{
		deploymentOverFramesize,
		acknowledgeOverFramesize,
		unionMultiplied,
		legacyState,
		inlineHeavy,
		coordinatorHeavy,
		sstExplosion,
		inFlightHeavy,
		subtaskSkew,
		keyGroupSkew,
		haDangling,
		haStale,
		haOversized,
		missingFile,
		emptyFile,
		wrongLength,
		unchecked,
		unreadableStream,
		brokenCompression,
		nativeClaimDefect,
		foreignReference,
		deadName,
		finishedOrEmpty,
		autoID,
		opaqueSerializer,
		unreadPosition,
		versionLint,
		maxParallelism,
	}
}
