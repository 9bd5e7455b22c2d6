-- A study as version 1 of the tables held it, made by the program of that version; nobody's judgments.
-- secret key: b1da3b4085b8a771273433838e96b1d68732746c5bde2fc89f3b6de75e69d50f
BEGIN TRANSACTION;
CREATE TABLE answers (
	id INTEGER NOT NULL,
	participant_id TEXT NOT NULL,
	item_id TEXT NOT NULL,
	phase TEXT NOT NULL,
	client_key TEXT NOT NULL,
	revision INTEGER NOT NULL,
	supersedes INTEGER,
	position INTEGER NOT NULL,
	next_position INTEGER NOT NULL,
	measure TEXT NOT NULL,
	value FLOAT,
	option TEXT,
	text TEXT,
	guessed_word TEXT,
	display_order TEXT NOT NULL,
	side TEXT,
	shown_at VARCHAR(32),
	answered_at VARCHAR(32) NOT NULL,
	rt_ms FLOAT,
	rt_server_ms FLOAT,
	comment TEXT,
	flags TEXT NOT NULL,
	page_version TEXT NOT NULL,
	guideline_version TEXT NOT NULL,
	item_sha256 VARCHAR(64) NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (participant_id, item_id, phase, client_key),
	UNIQUE (participant_id, phase, item_id, revision),
	FOREIGN KEY(participant_id) REFERENCES participants (participant_id),
	FOREIGN KEY(supersedes) REFERENCES answers (id)
);
INSERT INTO "answers" VALUES(1,'p8f624ce52e81fecaabd76c9c246b7f19','i0','trials','key-i0',0,NULL,0,1,'rating',3.0,NULL,NULL,NULL,'[1, 0]','left',NULL,'2026-03-01T12:01:00.000000+00:00',812.5,NULL,NULL,'[]','','','0000000000000000000000000000000000000000000000000000000000000000');
INSERT INTO "answers" VALUES(2,'p8f624ce52e81fecaabd76c9c246b7f19','i0','trials','back',1,1,0,1,'rating',4.0,NULL,NULL,NULL,'[1, 0]','left',NULL,'2026-03-01T12:01:00.000000+00:00',NULL,NULL,'on second thought','[]','','','0000000000000000000000000000000000000000000000000000000000000000');
INSERT INTO "answers" VALUES(3,'p8f624ce52e81fecaabd76c9c246b7f19','i1','trials','key-i1',0,NULL,1,2,'rating',5.0,NULL,NULL,NULL,'[1, 0]','left',NULL,'2026-03-01T12:01:00.000000+00:00',NULL,NULL,NULL,'[]','','','0000000000000000000000000000000000000000000000000000000000000001');
CREATE TABLE audit (
	id INTEGER NOT NULL,
	at VARCHAR(32) NOT NULL,
	actor TEXT NOT NULL,
	action TEXT NOT NULL,
	details TEXT NOT NULL,
	previous VARCHAR(64) NOT NULL,
	hash VARCHAR(64) NOT NULL,
	PRIMARY KEY (id)
);
INSERT INTO "audit" VALUES(1,'2026-03-01T12:00:00.000000+00:00','store','create','{"sha256": "696c2a8e41bc5ec9acf786e063103fb5472732a8113c860b8473f5fcef51313b", "study_id": "made_up"}','0000000000000000000000000000000000000000000000000000000000000000','501055e2b8a13ceaacef295dfeacc7aeeec469fb8b4317ea74e315f4f0b3db3c');
INSERT INTO "audit" VALUES(2,'2026-03-01T12:00:00.000000+00:00','store','place take','{"list_id": "1", "participant_id": "p8f624ce52e81fecaabd76c9c246b7f19", "surplus": false}','501055e2b8a13ceaacef295dfeacc7aeeec469fb8b4317ea74e315f4f0b3db3c','46f24f2b6efb97fa9713f51ef6621467760acb4838eac27ce91ae1fb20966713');
INSERT INTO "audit" VALUES(3,'2026-03-01T12:01:00.000000+00:00','store','place finished','{"list_id": "1", "participant_id": "p8f624ce52e81fecaabd76c9c246b7f19", "surplus": false}','46f24f2b6efb97fa9713f51ef6621467760acb4838eac27ce91ae1fb20966713','ea383c3ebc38677c3210e7753d751c374a647b2592e3ab58416551c9f310f9e2');
INSERT INTO "audit" VALUES(4,'2026-03-01T12:01:00.000000+00:00','store','place take','{"list_id": "1", "participant_id": "pbce0edc528e3b617df53fe0a7766c48b", "surplus": false}','ea383c3ebc38677c3210e7753d751c374a647b2592e3ab58416551c9f310f9e2','838b03863433822a65a136ab259484876af5726c38114ca68b2b28b559a85e53');
INSERT INTO "audit" VALUES(5,'2026-03-01T12:01:00.000000+00:00','keeper','forget','{"answers_removed": 0, "participant_id": "pb307dcb76339ac79d9cd3b9449bf42d7"}','838b03863433822a65a136ab259484876af5726c38114ca68b2b28b559a85e53','766bd05c632401c918fe85031bc2e62aa15bf4bd1afb035e8e07fca1ea1c1feb');
CREATE TABLE audit_head (
	one INTEGER NOT NULL,
	entries INTEGER NOT NULL,
	hash VARCHAR(64) NOT NULL,
	PRIMARY KEY (one)
);
INSERT INTO "audit_head" VALUES(1,5,'766bd05c632401c918fe85031bc2e62aa15bf4bd1afb035e8e07fca1ea1c1feb');
CREATE TABLE codes (
	participant_id TEXT NOT NULL,
	kind TEXT NOT NULL,
	code TEXT NOT NULL,
	at VARCHAR(32) NOT NULL,
	PRIMARY KEY (participant_id, kind),
	FOREIGN KEY(participant_id) REFERENCES participants (participant_id)
);
INSERT INTO "codes" VALUES('p8f624ce52e81fecaabd76c9c246b7f19','completed','Y4SGARQR4U','2026-03-01T12:01:00.000000+00:00');
CREATE TABLE consents (
	id INTEGER NOT NULL,
	participant_id TEXT NOT NULL,
	text_version TEXT NOT NULL,
	text_sha256 VARCHAR(64) NOT NULL,
	at VARCHAR(32) NOT NULL,
	PRIMARY KEY (id),
	FOREIGN KEY(participant_id) REFERENCES participants (participant_id)
);
INSERT INTO "consents" VALUES(1,'p8f624ce52e81fecaabd76c9c246b7f19','1','f1c48b2d4243a71cc107dc91d9cef0ce71fcd515201b45a3faff945835b9e18b','2026-03-01T12:00:00.000000+00:00');
INSERT INTO "consents" VALUES(2,'pbce0edc528e3b617df53fe0a7766c48b','1','f1c48b2d4243a71cc107dc91d9cef0ce71fcd515201b45a3faff945835b9e18b','2026-03-01T12:01:00.000000+00:00');
CREATE TABLE erasures (
	participant_id TEXT NOT NULL,
	answers TEXT NOT NULL,
	at VARCHAR(32) NOT NULL,
	PRIMARY KEY (participant_id),
	FOREIGN KEY(participant_id) REFERENCES participants (participant_id)
);
INSERT INTO "erasures" VALUES('pb307dcb76339ac79d9cd3b9449bf42d7','kept','2026-03-01T12:01:00.000000+00:00');
CREATE TABLE identities (
	participant_id TEXT NOT NULL,
	lookup VARCHAR(64) NOT NULL,
	platform_id TEXT NOT NULL,
	session TEXT,
	PRIMARY KEY (participant_id),
	FOREIGN KEY(participant_id) REFERENCES participants (participant_id),
	UNIQUE (lookup)
);
INSERT INTO "identities" VALUES('p8f624ce52e81fecaabd76c9c246b7f19','143dfa2d91af959c32601fca89ddfc785debb1951eeca93aa033ee7be65130dd','PLATFORM-1',NULL);
INSERT INTO "identities" VALUES('pbce0edc528e3b617df53fe0a7766c48b','a1b09b5598bc5367ef4a1982a10ebe9de99031c8997a8d9319dd527992d1fbdd','PLATFORM-2',NULL);
CREATE TABLE leases (
	participant_id TEXT NOT NULL,
	list_id TEXT NOT NULL,
	ordinal INTEGER NOT NULL,
	number INTEGER,
	status TEXT NOT NULL,
	surplus BOOLEAN NOT NULL,
	taken_at VARCHAR(32) NOT NULL,
	expires_at VARCHAR(32) NOT NULL,
	PRIMARY KEY (participant_id),
	FOREIGN KEY(participant_id) REFERENCES participants (participant_id),
	FOREIGN KEY(list_id) REFERENCES lists (list_id),
	UNIQUE (ordinal)
);
INSERT INTO "leases" VALUES('p8f624ce52e81fecaabd76c9c246b7f19','1',1,1,'done',0,'2026-03-01T12:00:00.000000+00:00','2026-03-01T12:30:00.000000+00:00');
INSERT INTO "leases" VALUES('pbce0edc528e3b617df53fe0a7766c48b','1',2,2,'held',0,'2026-03-01T12:01:00.000000+00:00','2026-03-01T12:31:00.000000+00:00');
CREATE TABLE lists (
	list_id TEXT NOT NULL,
	ordinal INTEGER NOT NULL,
	places INTEGER NOT NULL CHECK (places >= 0),
	PRIMARY KEY (list_id)
);
INSERT INTO "lists" VALUES('1',0,2);
CREATE TABLE participants (
	participant_id TEXT NOT NULL,
	created_at VARCHAR(32) NOT NULL,
	PRIMARY KEY (participant_id)
);
INSERT INTO "participants" VALUES('p8f624ce52e81fecaabd76c9c246b7f19','2026-03-01T12:00:00.000000+00:00');
INSERT INTO "participants" VALUES('pbce0edc528e3b617df53fe0a7766c48b','2026-03-01T12:01:00.000000+00:00');
INSERT INTO "participants" VALUES('pb307dcb76339ac79d9cd3b9449bf42d7','2026-03-01T12:01:00.000000+00:00');
CREATE TABLE states (
	id INTEGER NOT NULL,
	participant_id TEXT NOT NULL,
	number INTEGER NOT NULL,
	from_state TEXT,
	to_state TEXT NOT NULL,
	reason TEXT NOT NULL,
	at VARCHAR(32) NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (participant_id, number),
	FOREIGN KEY(participant_id) REFERENCES participants (participant_id)
);
INSERT INTO "states" VALUES(1,'p8f624ce52e81fecaabd76c9c246b7f19',0,NULL,'invited','arrived','2026-03-01T12:00:00.000000+00:00');
INSERT INTO "states" VALUES(2,'p8f624ce52e81fecaabd76c9c246b7f19',1,'invited','consented','consent text 1','2026-03-01T12:00:00.000000+00:00');
INSERT INTO "states" VALUES(3,'p8f624ce52e81fecaabd76c9c246b7f19',2,'consented','qualified','no test in this study','2026-03-01T12:00:00.000000+00:00');
INSERT INTO "states" VALUES(4,'p8f624ce52e81fecaabd76c9c246b7f19',3,'qualified','active','read the instructions','2026-03-01T12:00:00.000000+00:00');
INSERT INTO "states" VALUES(5,'p8f624ce52e81fecaabd76c9c246b7f19',4,'active','finished','answered all','2026-03-01T12:01:00.000000+00:00');
INSERT INTO "states" VALUES(6,'pbce0edc528e3b617df53fe0a7766c48b',0,NULL,'invited','arrived','2026-03-01T12:01:00.000000+00:00');
INSERT INTO "states" VALUES(7,'pbce0edc528e3b617df53fe0a7766c48b',1,'invited','consented','consent text 1','2026-03-01T12:01:00.000000+00:00');
INSERT INTO "states" VALUES(8,'pbce0edc528e3b617df53fe0a7766c48b',2,'consented','qualified','no test in this study','2026-03-01T12:01:00.000000+00:00');
INSERT INTO "states" VALUES(9,'pbce0edc528e3b617df53fe0a7766c48b',3,'qualified','active','read the instructions','2026-03-01T12:01:00.000000+00:00');
INSERT INTO "states" VALUES(10,'pb307dcb76339ac79d9cd3b9449bf42d7',0,NULL,'invited','arrived','2026-03-01T12:01:00.000000+00:00');
CREATE TABLE study (
	study_id TEXT NOT NULL,
	schema_version INTEGER NOT NULL,
	definition TEXT NOT NULL,
	sha256 VARCHAR(64) NOT NULL,
	created_at VARCHAR(32) NOT NULL,
	PRIMARY KEY (study_id)
);
INSERT INTO "study" VALUES('made_up',1,'study: made up
items: 2
','696c2a8e41bc5ec9acf786e063103fb5472732a8113c860b8473f5fcef51313b','2026-03-01T12:00:00.000000+00:00');
CREATE TABLE trials (
	participant_id TEXT NOT NULL,
	phase TEXT NOT NULL,
	position INTEGER NOT NULL,
	item_id TEXT NOT NULL,
	display_order TEXT NOT NULL,
	side TEXT,
	PRIMARY KEY (participant_id, phase, position),
	UNIQUE (participant_id, phase, item_id),
	FOREIGN KEY(participant_id) REFERENCES participants (participant_id)
);
INSERT INTO "trials" VALUES('p8f624ce52e81fecaabd76c9c246b7f19','trials',0,'i0','[1, 0]','left');
INSERT INTO "trials" VALUES('p8f624ce52e81fecaabd76c9c246b7f19','trials',1,'i1','[1, 0]','left');
INSERT INTO "trials" VALUES('pbce0edc528e3b617df53fe0a7766c48b','trials',0,'i0','[1, 0]','left');
CREATE INDEX ix_leases_list_id ON leases (list_id);
CREATE INDEX ix_answers_supersedes ON answers (supersedes);
CREATE TRIGGER study_no_update BEFORE UPDATE ON study BEGIN SELECT RAISE(ABORT, 'study is append-only'); END;
CREATE TRIGGER study_no_delete BEFORE DELETE ON study BEGIN SELECT RAISE(ABORT, 'study is append-only'); END;
CREATE TRIGGER study_no_replace BEFORE INSERT ON study WHEN EXISTS (SELECT 1 FROM study WHERE (study_id = NEW.study_id)) BEGIN SELECT RAISE(ABORT, 'study is append-only'); END;
CREATE TRIGGER participants_no_update BEFORE UPDATE ON participants BEGIN SELECT RAISE(ABORT, 'participants is append-only'); END;
CREATE TRIGGER participants_no_delete BEFORE DELETE ON participants BEGIN SELECT RAISE(ABORT, 'participants is append-only'); END;
CREATE TRIGGER participants_no_replace BEFORE INSERT ON participants WHEN EXISTS (SELECT 1 FROM participants WHERE (participant_id = NEW.participant_id)) BEGIN SELECT RAISE(ABORT, 'participants is append-only'); END;
CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
CREATE TRIGGER audit_no_replace BEFORE INSERT ON audit WHEN EXISTS (SELECT 1 FROM audit WHERE (id = NEW.id)) BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
CREATE TRIGGER consents_no_update BEFORE UPDATE ON consents BEGIN SELECT RAISE(ABORT, 'consents is append-only'); END;
CREATE TRIGGER consents_no_delete BEFORE DELETE ON consents BEGIN SELECT RAISE(ABORT, 'consents is append-only'); END;
CREATE TRIGGER consents_no_replace BEFORE INSERT ON consents WHEN EXISTS (SELECT 1 FROM consents WHERE (id = NEW.id)) BEGIN SELECT RAISE(ABORT, 'consents is append-only'); END;
CREATE TRIGGER states_no_update BEFORE UPDATE ON states BEGIN SELECT RAISE(ABORT, 'states is append-only'); END;
CREATE TRIGGER states_no_delete BEFORE DELETE ON states BEGIN SELECT RAISE(ABORT, 'states is append-only'); END;
CREATE TRIGGER states_no_replace BEFORE INSERT ON states WHEN EXISTS (SELECT 1 FROM states WHERE (id = NEW.id) OR (number = NEW.number AND participant_id = NEW.participant_id)) BEGIN SELECT RAISE(ABORT, 'states is append-only'); END;
CREATE TRIGGER trials_no_update BEFORE UPDATE ON trials BEGIN SELECT RAISE(ABORT, 'trials is append-only'); END;
CREATE TRIGGER trials_no_delete BEFORE DELETE ON trials BEGIN SELECT RAISE(ABORT, 'trials is append-only'); END;
CREATE TRIGGER trials_no_replace BEFORE INSERT ON trials WHEN EXISTS (SELECT 1 FROM trials WHERE (item_id = NEW.item_id AND participant_id = NEW.participant_id AND phase = NEW.phase) OR (participant_id = NEW.participant_id AND phase = NEW.phase AND position = NEW.position)) BEGIN SELECT RAISE(ABORT, 'trials is append-only'); END;
CREATE TRIGGER answers_no_update BEFORE UPDATE ON answers BEGIN SELECT RAISE(ABORT, 'answers is append-only'); END;
CREATE TRIGGER answers_no_delete BEFORE DELETE ON answers WHEN NOT EXISTS (SELECT 1 FROM erasures WHERE participant_id = OLD.participant_id AND answers = 'removed') BEGIN SELECT RAISE(ABORT, 'answers is append-only'); END;
CREATE TRIGGER answers_no_replace BEFORE INSERT ON answers WHEN EXISTS (SELECT 1 FROM answers WHERE (client_key = NEW.client_key AND item_id = NEW.item_id AND participant_id = NEW.participant_id AND phase = NEW.phase) OR (id = NEW.id) OR (item_id = NEW.item_id AND participant_id = NEW.participant_id AND phase = NEW.phase AND revision = NEW.revision)) BEGIN SELECT RAISE(ABORT, 'answers is append-only'); END;
CREATE TRIGGER codes_no_update BEFORE UPDATE ON codes BEGIN SELECT RAISE(ABORT, 'codes is append-only'); END;
CREATE TRIGGER codes_no_delete BEFORE DELETE ON codes BEGIN SELECT RAISE(ABORT, 'codes is append-only'); END;
CREATE TRIGGER codes_no_replace BEFORE INSERT ON codes WHEN EXISTS (SELECT 1 FROM codes WHERE (kind = NEW.kind AND participant_id = NEW.participant_id)) BEGIN SELECT RAISE(ABORT, 'codes is append-only'); END;
CREATE TRIGGER erasures_no_update BEFORE UPDATE ON erasures BEGIN SELECT RAISE(ABORT, 'erasures is append-only'); END;
CREATE TRIGGER erasures_no_delete BEFORE DELETE ON erasures BEGIN SELECT RAISE(ABORT, 'erasures is append-only'); END;
CREATE TRIGGER erasures_no_replace BEFORE INSERT ON erasures WHEN EXISTS (SELECT 1 FROM erasures WHERE (participant_id = NEW.participant_id)) BEGIN SELECT RAISE(ABORT, 'erasures is append-only'); END;
COMMIT;
