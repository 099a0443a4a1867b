import { connect } from '../../src/library/index.ts';
import { libraryOver } from './library.ts';
import { stepsOver } from './steps.ts';

libraryOver('memory', () => connect('memory:'));
stepsOver('memory', () => connect('memory:'));
