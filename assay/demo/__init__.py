"""The main job on the embedded broker with the local judge and sample records: nothing to install, no key."""
